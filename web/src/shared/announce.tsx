import { signal } from "@preact/signals";
import type { JSX } from "preact";

const said = signal("");

/** Tells those who hear the page what has changed; not for what changes every second. */
export function announce(text: string): void {
  if (text) said.value = text;
}

/** Where it is heard. Once in the page. */
export function Announcer(): JSX.Element {
  return (
    <p class="unseen" role="status" aria-live="polite">
      {said.value}
    </p>
  );
}
