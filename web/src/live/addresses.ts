import { changed } from "../shared/place";
import { keyOf } from "./moments";

/** Parameters of the address that the live page keeps. */
export const TAB = "tab";
export const ENDPOINT = "endpoint";
/** The form for another run is open. */
export const NEW = "new";

/** Where the charts of an endpoint are. */
export function chartsOf(endpoint: { method: string; name: string }): string {
  return changed({ [TAB]: "charts", [ENDPOINT]: keyOf(endpoint) });
}
