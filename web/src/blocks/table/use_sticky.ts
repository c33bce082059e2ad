import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Column } from "./column";

/** Tells the style sheet where the second sticky column begins: `--stuck-1` is the width of the first (px). */
export function useSticky<T>(
  region: RefObject<HTMLElement | null>,
  head: RefObject<HTMLTableSectionElement | null>,
  columns: readonly Column<T>[],
): void {
  useLayoutEffect(() => {
    const first = head.current?.querySelector("th");
    const element = region.current;
    if (!first || !element || !columns[1]?.isSticky) return undefined;
    const size = new ResizeObserver(() => element.style.setProperty("--stuck-1", `${first.offsetWidth}px`));
    size.observe(first);
    return () => size.disconnect();
  }, [region, head, columns]);
}
