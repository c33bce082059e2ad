import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { DataTable } from "../../blocks/table/data_table";
import type { Column } from "../../blocks/table/column";
import type { EndpointRow } from "../../contract";
import { count, rate, share } from "../../shared";
import { chartsOf } from "../addresses";
import { keyOf, type Seen } from "../moments";
import type { Session } from "../session";
import { isMeasuring } from "../status";
import { ChartGrid } from "./charts";
import { noteOfFew, timeColumn } from "./time_column";
import { mostNotable, waitingColumn, waitingOf } from "./waiting";

const MOST = 6;
const CHARTS = 4;

/** The endpoints that need attention, and the main charts, in the order of a stored run. */
export function Overview({ session, seen }: { session: Session; seen: Seen }): JSX.Element {
  return (
    <>
      <Endpoints rows={seen.rows} isNow={isMeasuring(seen.test)} />
      <ChartGrid session={session} test={seen.test} most={CHARTS} />
    </>
  );
}

function Endpoints({ rows, isNow }: { rows: Seen["rows"]; isNow: boolean }): JSX.Element | null {
  const worst = useMemo(() => mostNotable(rows.values(), MOST), [rows]);
  const waiting = useMemo(() => waitingColumn(waitingOf(rows.values())), [rows]);
  if (!worst.length) return null;
  const some = `Endpoints: ${MOST} of ${count(rows.size)}, those with the most waiting and failures`;
  const [name, ...numbers] = isNow ? LATELY : IN_ALL;
  return (
    <DataTable
      caption={rows.size > MOST ? some : "Endpoints"}
      columns={name ? [name, waiting, ...numbers] : []}
      rows={worst}
      rowKey={keyOf}
      note={noteOfFew(worst, isNow ? ["current_p50", "current_p99"] : ["p50", "p99"])}
    />
  );
}

const COMMON: readonly Column<EndpointRow>[] = [
  {
    key: "endpoint",
    title: "Endpoint",
    isText: true,
    room: "name",
    isSticky: true,
    text: (row) => `${row.method} ${row.name}`.trim(),
    cell: (row) => <a href={chartsOf(row)}>{`${row.method} ${row.name}`.trim()}</a>,
  },
  { key: "requests", title: "Requests", text: (row) => count(row.requests), order: (row) => row.requests },
  {
    key: "failed",
    title: "Failed",
    text: (row) => share(row.failures, row.requests),
    cell: (row) => <span class={row.failures ? "bad" : ""}>{share(row.failures, row.requests)}</span>,
    order: (row) => (row.requests ? row.failures / row.requests : null),
  },
];

const LATELY: readonly Column<EndpointRow>[] = [
  ...COMMON,
  { key: "rate", title: "Requests/s now", text: (row) => rate(row.current_rps), order: (row) => row.current_rps },
  timeColumn("current_p50", "p50 now (ms)"),
  timeColumn("current_p99", "p99 now (ms)"),
];

const IN_ALL: readonly Column<EndpointRow>[] = [
  ...COMMON,
  { key: "rate", title: "Requests/s", text: (row) => rate(row.rps), order: (row) => row.rps },
  timeColumn("p50", "p50 (ms)"),
  timeColumn("p99", "p99 (ms)"),
];
