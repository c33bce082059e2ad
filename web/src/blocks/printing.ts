import { signal } from "@preact/signals";

/** True while the page prints. Everything is open then, and the style sheet uses light colours. */
export const printing = signal(false);

addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));
