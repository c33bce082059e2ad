import { computed, signal } from "@preact/signals";
import { hashOf, placeOf } from "./route";

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

/** The current page and its parameters. */
export const place = computed(() => placeOf(hash.value));

/** Stores parameters in the address without a new history entry. null removes one. */
export function keep(changes: Record<string, string | null>): void {
  history.replaceState(history.state, "", changed(changes));
  hash.value = location.hash;
}

/** The address of this page with changed parameters. */
export function changed(changes: Record<string, string | null>): string {
  const { path, params } = place.peek();
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  return hashOf(path, next);
}
