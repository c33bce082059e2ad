import { useEffect } from "preact/hooks";

/** The title of the window, once it is known; "" leaves it. */
export function useTitle(title: string): void {
  useEffect(() => {
    // After the frame of the page, which names the page by its kind at first.
    if (title) queueMicrotask(() => (document.title = `${title} – Plimsoll`));
  }, [title]);
}
