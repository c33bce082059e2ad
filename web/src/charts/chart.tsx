import { useEffect, useRef, useState } from "preact/hooks";
import type { ChartSpec } from "../contract";
import { same } from "../shared/same";
import { Canvas, type ChartHandle, type Signals } from "./canvas";
import { courseOf } from "./course";
import type { Line } from "./picture";
import { PointerTip, pointed } from "./pointer";
import { dragged, select } from "./zoom";

/**
 * A picture without a title. It is drawn when it comes near the view, and redrawn when its specification changes.
 *
 * handle: called with the handle that appends rows as soon as the data sets are read, and with null before they are
 * read again. signals: by name. A new signal value does not redraw the chart. A part of a chart over time is selected
 * with the mouse; a double click shows all of it again.
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
    const drag = dragged.peek();
    if (found && drag?.course === course) dragged.value = { ...drag, until: found.second };
  };
  const press = (event: PointerEvent) => {
    point(event);
    const second = pointed.peek()?.second;
    if (course === undefined || second === undefined || event.pointerType !== "mouse" || event.button) return;
    // The text beside the chart is not to be selected with it.
    event.preventDefault();
    dragged.value = { course, from: second, until: second, x: event.clientX };
  };
  const release = (event: PointerEvent) => {
    if (dragged.peek()?.course === course) select(event.clientX, event.timeStamp);
  };
  const leave = () => {
    if (pointed.peek()?.chart === name) pointed.value = null;
    dragged.value = null;
  };
  const drag = dragged.value?.course === course ? dragged.value : null;
  const ends = drag && [canvas.current?.lineAt(drag.from), canvas.current?.lineAt(drag.until)];
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
        onPointerDown={press}
        onPointerUp={release}
        onPointerLeave={leave}
      />
      {ends?.[0] && ends[1] && <div class="selection" style={between(ends[0], ends[1])} />}
      {line && <div class="crosshair" style={pixels(line)} />}
      {at?.chart === name && <PointerTip />}
    </div>
  );
}

function pixels({ left, top, height }: Line) {
  return { left: `${left}px`, top: `${top}px`, height: `${height}px` };
}

function between(one: Line, other: Line) {
  const width = Math.abs(one.left - other.left);
  return { ...pixels({ ...one, left: Math.min(one.left, other.left) }), width: `${width}px` };
}

/** Returns the previous object while the new one is equal to it. */
function useSteady<T>(value: T): T {
  const kept = useRef(value);
  if (!same(kept.current, value)) kept.current = value;
  return kept.current;
}
