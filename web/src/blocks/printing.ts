import { signal } from "@preact/signals";

/** The page is being printed: everything is open, and in light colours, which the style sheet sees to. */
export const printing = signal(false);

addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));
