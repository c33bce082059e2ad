import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { Column } from "./column";

/** Sets `--stuck-1`, the position (px) of the second sticky column: the width of the first. */
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
