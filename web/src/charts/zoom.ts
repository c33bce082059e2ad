import { signal } from "@preact/signals";
import type { ChartSpec } from "../contract";
import { courseOf } from "./course";

/** Seconds of a run. */
export interface Span {
  from: number;
  until: number;
}

/** The part of a run that a person has selected in one of its charts. All charts of that run show it. */
interface Zoom extends Span {
  course: string;
}

/** A shorter drag is a click. In px. */
const SHORTEST = 6;
/** Between the clicks of a double click at most, in ms. */
const DOUBLE_CLICK = 400;

let lastClick = -Infinity;

export const zoomed = signal<Zoom | null>(null);

/** The selection while the button is held. from: where it began, which may be the later second. x: there, in px. */
export const dragged = signal<(Zoom & { x: number }) | null>(null);

/** The seconds that a chart over time shows now; whole: without a selection. */
export function shownSpan(spec: ChartSpec, whole: Span | undefined): Span | undefined {
  const zoom = zoomed.value;
  if (zoom && zoom.course === courseOf(spec)?.course) return { from: zoom.from, until: zoom.until };
  return whole ?? ownSpan(spec);
}

/** Ends a drag at x px. A double click shows all of the run again. now: in ms, of any clock. */
export function select(x: number, now: number): void {
  const drag = dragged.peek();
  dragged.value = null;
  if (!drag) return;
  if (Math.abs(x - drag.x) < SHORTEST) {
    if (now - lastClick < DOUBLE_CLICK && zoomed.peek()?.course === drag.course) zoomed.value = null;
    lastClick = now;
    return;
  }
  const from = Math.floor(Math.min(drag.from, drag.until));
  zoomed.value = { course: drag.course, from, until: Math.max(from + 1, Math.ceil(Math.max(drag.from, drag.until))) };
}

/** The seconds that the specification itself shows. */
function ownSpan({ spec }: ChartSpec): Span | undefined {
  const params = (spec.params ?? []) as { name: string; value?: unknown }[];
  const [from, until] = ["from", "until"].map((name) => params.find((each) => each.name === name)?.value);
  return typeof from === "number" && typeof until === "number" ? { from, until } : undefined;
}
