import { useMemo } from "preact/hooks";
import { type Column, DataTable } from "../blocks";
import type { ChangePoint, Trend, TrendPoint } from "../contract";
import { NONE, When, amount, dateTime } from "../shared";
import { compareAddress, runAddress } from "./addresses";

/** Number of commit digits shown. */
const SHORT = 10;

/** The lasting changes of the metric. */
export function ChangeTable({ trend }: { trend: Trend }) {
  const columns = useMemo(() => changeColumns(trend), [trend]);
  if (trend.changes.length === 0) return null;
  return (
    <DataTable
      caption={`Where ${trend.metric} changed for good`}
      columns={columns}
      rows={trend.changes}
      rowKey={(change) => change.run}
    />
  );
}

function changeColumns({ points, unit }: Trend): Column<ChangePoint>[] {
  const of = unit && ` (${unit})`;
  const at = (change: ChangePoint): number => points.findIndex((point) => point.run === change.run);
  return [
    {
      key: "what",
      title: "Change",
      isText: true,
      text: (change) => change.text,
      cell: (change) => <span class={`chip ${change.is_worse ? "worse" : "better"}`}>{change.text}</span>,
    },
    { key: "before", title: `Before${of}`, text: (change) => amount(change.before) },
    { key: "after", title: `After${of}`, text: (change) => amount(change.after) },
    { key: "change", title: "Δ", text: (change) => asPercent(change.change), order: (change) => change.change },
    { key: "p", title: "p", text: (change) => asProbability(change.p), order: (change) => change.p },
    { key: "commit", title: "Commit", isText: true, text: (change) => commitOf(points[at(change)]) },
    {
      key: "run",
      title: "First run after it",
      isText: true,
      text: (change) => change.run,
      cell: (change) => <FirstRun change={change} before={validBefore(points, at(change))} />,
    },
  ];
}

function validBefore(points: readonly TrendPoint[], place: number): TrendPoint | undefined {
  return points
    .slice(0, place)
    .filter((point) => point.is_valid)
    .at(-1);
}

function FirstRun({ change, before }: { change: ChangePoint; before: TrendPoint | undefined }) {
  return (
    <>
      <a href={runAddress(change.run)}>{change.run}</a>
      {before !== undefined && (
        <>
          {" · "}
          <a href={compareAddress([before.run, change.run])}>compare with the run before</a>
        </>
      )}
    </>
  );
}

/** All runs of the series, latest first. */
export function PointTable({ trend }: { trend: Trend }) {
  const columns = useMemo(() => pointColumns(trend), [trend]);
  const rows = useMemo(() => [...trend.points].reverse(), [trend]);
  if (rows.length === 0) return null;
  return (
    <DataTable
      caption={`${trend.metric} of every run, the latest first`}
      columns={columns}
      rows={rows}
      rowKey={(point) => point.run}
      rowClass={(point) => (point.is_valid ? "" : "void")}
    />
  );
}

function pointColumns({ changes, metric, unit }: Trend): Column<TrendPoint>[] {
  const changed = new Set(changes.map((change) => change.run));
  const remark = (point: TrendPoint): string =>
    !point.is_valid ? "invalid, left out" : changed.has(point.run) ? "first after a change" : "";
  return [
    {
      key: "begun",
      title: "Begun",
      isText: true,
      text: (point) => dateTime(point.started),
      cell: (point) => <When at={point.started} />,
      order: (point) => point.started,
    },
    {
      key: "run",
      title: "Run",
      isText: true,
      text: (point) => point.run,
      cell: (point) => <a href={runAddress(point.run)}>{point.run}</a>,
    },
    { key: "name", title: "Name", isText: true, text: (point) => point.name },
    { key: "commit", title: "Commit", isText: true, text: commitOf },
    { key: "value", title: unit ? `${metric} (${unit})` : metric, text: (point) => amount(point.value) },
    {
      key: "remark",
      title: "Remark",
      isText: true,
      text: remark,
      cell: (point) => <span class={point.is_valid ? undefined : "chip invalid"}>{remark(point)}</span>,
    },
  ];
}

function commitOf(point: TrendPoint | undefined): string {
  return point?.commit ? point.commit.slice(0, SHORT) : NONE;
}

/** A relative change, with its sign. */
export function asPercent(change: number | null): string {
  if (change === null) return NONE;
  const percent = Math.abs(change) * 100;
  return `${change < 0 ? "−" : "+"}${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

/** A probability. A very small one is shown as "< …". */
export function asProbability(p: number): string {
  return p < 0.0001 ? "<0.0001" : p.toPrecision(2);
}
