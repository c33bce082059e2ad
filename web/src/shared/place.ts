import { computed, signal } from "@preact/signals";
import { hashOf, placeOf } from "./route";

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

/** Where the reader is. */
export const place = computed(() => placeOf(hash.value));

/** Keeps something of the page in the address, in place of what was there: no step for the Back button. null: nothing. */
export function keep(changes: Record<string, string | null>): void {
  history.replaceState(history.state, "", changed(changes));
  hash.value = location.hash;
}

/** The address of this page with other parameters. */
export function changed(changes: Record<string, string | null>): string {
  const { path, params } = place.peek();
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return hashOf(path, next);
}
