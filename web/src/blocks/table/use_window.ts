import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { printing } from "../printing";
import { Heights } from "./heights";
import { type Window, windowOf } from "./window";

const ROW = 33;
/** Height of the region in px, before it is measured. */
const ROOM = 800;

/**
 * Selects the rows to draw in a scrolling region. keys: of all rows. If isOn is false, all rows are drawn. `body` is
 * the element with the rows. Each row has its key in `data-key`.
 */
export function useWindow(
  region: RefObject<HTMLElement | null>,
  body: RefObject<HTMLElement | null>,
  keys: readonly string[],
  isOn: boolean,
): Window {
  const [, redraw] = useReducer<number, undefined>((turn) => turn + 1, 0);
  const heights = useRef(new Heights(ROW)).current;
  const shown = useRef<Window>({ from: 0, to: 0, above: 0, below: 0 });
  const all = !isOn || printing.value;

  const now = useCallback((): Window => {
    const { scrollTop = 0, clientHeight = 0 } = region.current ?? {};
    return windowOf(keys.length, (row) => heights.of(keys[row] ?? ""), scrollTop, clientHeight || ROOM);
  }, [keys, heights, region]);

  useEffect(() => {
    const element = region.current;
    if (all || !element) return undefined;
    const look = () => {
      const { from, to } = now();
      if (from !== shown.current.from || to !== shown.current.to) redraw(undefined);
    };
    const size = new ResizeObserver(look);
    size.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      size.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [all, now, region]);

  useLayoutEffect(() => {
    if (all || !body.current) return;
    let isNew = false;
    for (const row of body.current.querySelectorAll<HTMLElement>("tr[data-key]")) {
      isNew = heights.learn(row.dataset.key ?? "", row.getBoundingClientRect().height) || isNew;
    }
    if (isNew) redraw(undefined);
  });

  if (all) return { from: 0, to: keys.length, above: 0, below: 0 };
  shown.current = now();
  return shown.current;
}
