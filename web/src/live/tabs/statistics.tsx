import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { DataTable } from "../../blocks/table/data_table";
import type { Column } from "../../blocks/table/column";
import type { EndpointRow } from "../../contract";
import { chartsOf } from "../addresses";
import { keyOf, type Seen } from "../moments";
import { NUMBERS } from "./columns";
import { noteOfFew, noteOfShares } from "./time_column";
import { byWaiting, waitingColumn, waitingOf } from "./waiting";

/** The total links to the charts of all endpoints. */
function Name({ row }: { row: EndpointRow }): JSX.Element {
  return row.name === "Aggregated" && !row.method ? <>{row.name}</> : <a href={chartsOf(row)}>{row.name}</a>;
}

const NAMES: readonly Column<EndpointRow>[] = [
  { key: "method", title: "Method", isText: true, room: "word", isSticky: true, text: (row) => row.method },
  {
    key: "name",
    title: "Name",
    isText: true,
    room: "name",
    isSticky: true,
    text: (row) => row.name,
    cell: (row) => <Name row={row} />,
  },
];

const FIGURES: readonly Column<EndpointRow>[] = NUMBERS.map((each) =>
  each.key === "failures" || each.key === "failed" ? { ...each, cell: failed(each) } : each,
);

/** Marks only failures. Zero is not marked. */
function failed(column: Column<EndpointRow>): (row: EndpointRow) => JSX.Element {
  return (row) => <span class={row.failures ? "bad" : ""}>{column.text(row)}</span>;
}

const NOTE =
  "Times in ms. Now: the last 10 s. Service: what the target and the network took, without what the request waited here.";

function ageOf({ rowAge }: Seen): string {
  return rowAge > 1 ? `With so many endpoints a row is up to ${rowAge} s old; the total is not.` : "";
}

const TIMES = ["mean", "max", "p50", "p90", "p95", "p99", "p999", "current_p50", "current_p95", "current_p99"] as const;

/** All endpoints with all their numbers. Each links to its charts. */
export function Statistics({ seen }: { seen: Seen }): JSX.Element {
  const rows = useMemo(() => byWaiting(seen.rows.values()), [seen.rows]);
  const columns = useMemo(() => [...NAMES, waitingColumn(waitingOf(rows)), ...FIGURES], [rows]);
  const totals = useMemo(() => (seen.total ? [seen.total] : []), [seen.total]);
  const few = useMemo(() => noteOfFew(rows, ["p50", "p95", "p99", "current_p50", "current_p99"]), [rows]);
  const shares = useMemo(() => noteOfShares([...rows, ...totals], TIMES), [rows, totals]);
  if (!rows.length) return <p class="soft empty">No request has been answered yet.</p>;
  return (
    <DataTable
      caption="Endpoints"
      columns={columns}
      rows={rows}
      rowKey={keyOf}
      totals={totals}
      hasFilter
      chosenAs="plimsoll-endpoints"
      note={[NOTE, ageOf(seen), few, shares].filter(Boolean).join(" ")}
    />
  );
}
