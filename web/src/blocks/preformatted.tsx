import type { Preformatted as PreformattedData } from "../contract";

/** Long lines are moved sideways, also by keyboard. */
export function Preformatted({ text }: PreformattedData) {
  return <pre tabIndex={0}>{text}</pre>;
}
