import { useEffect } from "preact/hooks";

/** Sets the title of the window. "" leaves it. */
export function useTitle(title: string): void {
  useEffect(() => {
    // Runs after the page frame has set its own title.
    if (title) queueMicrotask(() => (document.title = `${title} – Plimsoll`));
  }, [title]);
}
