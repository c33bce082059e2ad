import type { JSX } from "preact";
import { DataTable } from "../../blocks/table/data_table";
import type { Column } from "../../blocks/table/column";
import type { WorkerItem } from "../../contract";
import { count, milliseconds } from "../../shared";

const COLUMNS: readonly Column<WorkerItem>[] = [
  { key: "index", title: "Worker", isText: true, text: (each) => String(each.index), order: (each) => each.index },
  { key: "state", title: "State", isText: true, text: (each) => (each.is_lost ? "lost" : "at work") },
  { key: "users", title: "Users", text: (each) => count(each.users), order: (each) => each.users },
  { key: "flight", title: "In flight", text: (each) => count(each.in_flight), order: (each) => each.in_flight },
  { key: "cpu", title: "CPU", text: (each) => `${Math.round(100 * each.cpu)} %`, order: (each) => each.cpu },
  { key: "lag", title: "Lag p99 (ms)", text: (each) => milliseconds(each.lag_p99), order: (each) => each.lag_p99 },
  {
    key: "delay",
    title: "Delay p99 (ms)",
    text: (each) => milliseconds(each.delay_p99),
    order: (each) => each.delay_p99,
  },
];

const keyOf = (each: WorkerItem) => String(each.index);
const classOf = (each: WorkerItem) => (each.is_lost ? "lost" : "");

/** The processes of the generator. */
export function Workers({ workers }: { workers: readonly WorkerItem[] }): JSX.Element {
  if (!workers.length) return <p class="soft empty">No worker runs.</p>;
  return (
    <DataTable
      caption="Workers"
      columns={COLUMNS}
      rows={workers}
      rowKey={keyOf}
      rowClass={classOf}
      note="Lag: how late requests were sent. Delay: how long responses lay unread. 100 % of CPU is one core, all that a worker can use."
    />
  );
}
