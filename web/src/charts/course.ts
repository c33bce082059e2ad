import type { ChartSpec } from "../contract";
import { amount, count, duration, rate } from "../shared";
import type { Rows } from "../shared";

/** What Python states about a chart over the time of a run. */
interface Course {
  /** Charts of the same run share this value. */
  course: string;
  /** Seconds per row. */
  wide: number;
  unit: "ms" | "/s" | "";
}

/** A line of a chart, or a shade of the heat map. */
export interface Series {
  name: string;
  colour: string;
  kind: "line" | "dashed" | "shade";
}

interface Encoding {
  color?: { scale?: { domain?: string[]; range?: unknown }; legend?: { values?: string[] } };
  strokeDash?: { scale?: { range?: number[][] } };
}

/** A value at the second under the pointer. */
export interface Value extends Series {
  text: string;
}

/** Returns null if the chart is not over the time of a run. */
export function courseOf({ spec }: ChartSpec): Course | null {
  const meta = (spec.usermeta ?? {}) as Partial<Course>;
  return meta.course === undefined ? null : { course: meta.course, wide: meta.wide ?? 1, unit: meta.unit ?? "" };
}

/** The series in the order of the legend. config: the colours, by range name. */
export function seriesOf({ spec }: ChartSpec, config: Record<string, unknown>): Series[] {
  const ranges = (config.range ?? {}) as Record<string, string[] | undefined>;
  for (const { encoding } of (spec.layer ?? []) as { encoding: Encoding }[]) {
    const { domain, range } = encoding.color?.scale ?? {};
    if (!domain || typeof range !== "string") continue;
    const shown = encoding.color?.legend?.values ?? domain;
    const dashes = encoding.strokeDash?.scale?.range;
    return domain.flatMap((name, place) => {
      const kind = !dashes ? "shade" : dashes[place]?.[1] ? "dashed" : "line";
      return shown.includes(name) ? [{ name, colour: ranges[range]?.[place] ?? "", kind }] : [];
    });
  }
  return [];
}

/** The values at a second, as text. hidden: names of lines that are off. */
export function valuesAt(
  chart: ChartSpec,
  config: Record<string, unknown>,
  second: number,
  hidden: readonly string[],
): Value[] {
  const { wide, unit } = courseOf(chart) ?? { wide: 1, unit: "" };
  const rows = rowsOf(chart, "points").filter(({ second: at }) => isIn(at, wide, second));
  return seriesOf(chart, config).flatMap((series) => {
    const row = hidden.includes(series.name) ? undefined : rows.find((each) => each.of === series.name);
    return row && typeof row.value === "number" ? [{ ...series, text: worded(row.value, unit) }] : [];
  });
}

/** The heat-map cell at a second and a time (ms); "" for none. */
export function cellAt(chart: ChartSpec, second: number, ms: number): string {
  const wide = courseOf(chart)?.wide ?? 1;
  // Buckets of the heat map: ten per power of ten, from 1 µs.
  const bucket = Math.floor(10 * Math.log10(1000 * ms) + 1e-9);
  const cell = rowsOf(chart, "cells").find(({ s, b }) => isIn(s, wide, second) && b === bucket);
  if (typeof cell?.n !== "number") return "";
  const [low, high] = [bucket, bucket + 1].map((each) => duration(10 ** (each / 10) / 1000));
  return `${count(cell.n)} ${cell.n === 1 ? "request" : "requests"} of ${low} to ${high}`;
}

/** Manual load changes in this second. */
export function editsAt(chart: ChartSpec, second: number): string[] {
  const wide = courseOf(chart)?.wide ?? 1;
  const start = second - (second % wide);
  return rowsOf(chart, "edits").flatMap(({ second: at, text }) =>
    isIn(start, wide, Number(at)) ? [String(text)] : [],
  );
}

/** The last second that the chart has rows for. */
export function endOf(chart: ChartSpec): number {
  const last = rowsOf(chart, "points").at(-1) ?? rowsOf(chart, "cells").at(-1);
  return last ? Number(last.second ?? last.s) + (courseOf(chart)?.wide ?? 1) : 0;
}

function rowsOf({ spec }: ChartSpec, name: string): Rows[string] {
  return ((spec.datasets ?? {}) as Rows)[name] ?? [];
}

function isIn(start: unknown, wide: number, second: number): boolean {
  return typeof start === "number" && start <= second && second < start + wide;
}

function worded(value: number, unit: Course["unit"]): string {
  if (unit === "ms") return duration(value);
  if (unit === "/s") return `${rate(value)}/s`;
  return Number.isInteger(value) ? count(value) : amount(value);
}
