import type { JSX } from "preact";
import type { Fresh } from "./fresh";

/** Nothing there: because there is nothing, because it has not come yet, or because it could not be had. */
export function Empty({ fresh, text }: { fresh: Fresh<unknown>; text: string }): JSX.Element {
  if (fresh.problem) return <p class="problem">{fresh.problem}</p>;
  return <p class="soft empty">{fresh.value === null ? "Loading…" : text}</p>;
}
