import type { JSX } from "preact";
import type { Fresh } from "./fresh";

/** Shown instead of data: there is none, it is loading, or the request failed. */
export function Empty({ fresh, text }: { fresh: Fresh<unknown>; text: string }): JSX.Element {
  if (fresh.problem) return <p class="problem">{fresh.problem}</p>;
  return <p class="soft empty">{fresh.value === null ? "Loading…" : text}</p>;
}
