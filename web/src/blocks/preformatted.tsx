import type { Preformatted as PreformattedData } from "../contract";

/** Text whose long lines scroll sideways, also by keyboard. */
export function Preformatted({ text }: PreformattedData) {
  return <pre tabIndex={0}>{text}</pre>;
}
