import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** Whether the content is larger than the region. Then the keyboard can focus and scroll it. */
export function useOverflow(region: RefObject<HTMLElement | null>): boolean {
  const [overflows, setOverflows] = useState(false);
  useLayoutEffect(() => {
    const element = region.current;
    if (!element) return undefined;
    const look = () =>
      setOverflows(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);
    const size = new ResizeObserver(look);
    size.observe(element);
    if (element.firstElementChild) size.observe(element.firstElementChild);
    return () => size.disconnect();
  }, [region]);
  return overflows;
}
