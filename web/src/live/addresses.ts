import { changed } from "../shared/place";
import { keyOf } from "./moments";

/** Address parameters of the live page. */
export const TAB = "tab";
export const ENDPOINT = "endpoint";
/** Opens the form for another run. */
export const NEW = "new";

/** The address of an endpoint's charts. */
export function chartsOf(endpoint: { method: string; name: string }): string {
  return changed({ [TAB]: "charts", [ENDPOINT]: keyOf(endpoint) });
}
