import type { JSX } from "preact";
import { DataTable } from "../../blocks/table/data_table";
import type { Column } from "../../blocks/table/column";
import type { FailureItem } from "../../contract";
import { count, share, timeOfDay } from "../../shared";
import { Empty } from "./empty";
import type { Fresh } from "./fresh";

interface Props {
  fresh: Fresh<readonly FailureItem[]>;
}

/** Each failure once, with its count and times. */
export function Failures({ fresh }: Props): JSX.Element {
  if (!fresh.value?.length) return <Empty fresh={fresh} text="No request has failed." />;
  return (
    <>
      {fresh.problem && <p class="problem">{fresh.problem}</p>}
      <DataTable
        caption="Failures"
        columns={COLUMNS}
        rows={fresh.value}
        rowKey={failureKey}
        hasFilter
        sortedBy={MOST_FIRST}
        note="Share: of the requests of the endpoint."
      />
    </>
  );
}

const MOST_FIRST = { key: "count", way: "descending" } as const;

function failureKey(item: FailureItem): string {
  return JSON.stringify([item.method, item.name, item.outcome, item.message]);
}

const COLUMNS: readonly Column<FailureItem>[] = [
  { key: "count", title: "Count", text: (item) => count(item.count), order: (item) => item.count },
  {
    key: "share",
    title: "Share",
    text: (item) => share(item.share, 1),
    order: (item) => item.share,
  },
  {
    key: "endpoint",
    title: "Endpoint",
    isText: true,
    room: "name",
    text: (item) => `${item.method} ${item.name}`.trim(),
  },
  { key: "kind", title: "Kind", isText: true, room: "word", text: (item) => item.outcome },
  { key: "message", title: "Message", isText: true, room: "long", text: (item) => item.message },
  { key: "first", title: "First", text: (item) => timeOfDay(item.first), order: (item) => item.first },
  { key: "last", title: "Last", text: (item) => timeOfDay(item.last), order: (item) => item.last },
];
