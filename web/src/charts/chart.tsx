import { useEffect, useRef, useState } from "preact/hooks";
import type { ChartSpec } from "../contract";
import { same } from "../shared/same";
import { Canvas, type ChartHandle, type Signals } from "./canvas";
import { courseOf } from "./course";
import type { Line } from "./picture";
import { PointerTip, pointed } from "./pointer";

/**
 * A picture without a title. It is drawn when it comes near the view, and redrawn when its specification changes.
 *
 * handle: called with the handle that appends rows as soon as the data sets are read, and with null before they are
 * read again. signals: by name. A new signal value does not redraw the chart.
 */
export function Chart(props: {
  spec: ChartSpec;
  config: Record<string, unknown>;
  handle?: ((handle: ChartHandle | null) => void) | undefined;
  signals?: Signals;
}) {
  const { name, title, description, height } = props.spec;
  const element = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas | null>(null);
  const handle = useRef(props.handle);
  handle.current = props.handle;
  const [trouble, setTrouble] = useState("");
  const drawing = useSteady({ spec: props.spec.spec, config: props.config });
  const signals = useSteady(props.signals);

  useEffect(() => {
    if (!element.current) return undefined;
    const made = new Canvas(element.current, { handle: (each) => handle.current?.(each), failed: setTrouble });
    canvas.current = made;
    return () => made.end();
  }, []);
  useEffect(() => canvas.current?.show(drawing), [drawing]);
  useEffect(() => {
    if (signals) canvas.current?.set(signals);
  }, [signals]);

  const course = courseOf(props.spec)?.course;
  const at = pointed.value?.course === course ? pointed.value : null;
  const line = at && canvas.current?.lineAt(at.second);
  const point = (event: PointerEvent) => {
    if (course === undefined) return;
    const found = canvas.current?.placeOf(event.clientX, event.clientY);
    pointed.value = found ? { course, chart: name, ...found, x: event.clientX, y: event.clientY } : null;
  };
  const leave = () => {
    if (pointed.peek()?.chart === name) pointed.value = null;
  };
  return (
    <div class="chart" data-chart={name}>
      {trouble && <p class="failed">This chart could not be drawn: {trouble}</p>}
      <div
        class="plot"
        ref={element}
        role="img"
        aria-label={description ? `${title}. ${description}` : title}
        style={{ minHeight: trouble ? "0" : `${height}px` }}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={leave}
      />
      {line && <div class="crosshair" style={pixels(line)} />}
      {at?.chart === name && <PointerTip />}
    </div>
  );
}

function pixels({ left, top, height }: Line) {
  return { left: `${left}px`, top: `${top}px`, height: `${height}px` };
}

/** Returns the previous object while the new one is equal to it. */
function useSteady<T>(value: T): T {
  const kept = useRef(value);
  if (!same(kept.current, value)) kept.current = value;
  return kept.current;
}
