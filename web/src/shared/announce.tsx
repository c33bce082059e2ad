import { signal } from "@preact/signals";
import type { JSX } from "preact";

const said = signal("");

/** Announces a change to screen readers. Do not use it for values that change every second. */
export function announce(text: string): void {
  if (text) said.value = text;
}

/** The element that screen readers announce. Use it once per page. */
export function Announcer(): JSX.Element {
  return (
    <p class="unseen" role="status" aria-live="polite">
      {said.value}
    </p>
  );
}
