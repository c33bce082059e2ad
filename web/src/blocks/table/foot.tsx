import type { Column } from "./column";
import { Line } from "./line";

/** At most this many totals stay visible. More would cover the rows. */
const FEW = 3;

/** Rows that are always visible, at the bottom. */
export function Foot<T>(props: {
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey(row: T): string;
  rowClass: ((row: T) => string) | undefined;
}) {
  const { columns, rows, rowKey, rowClass } = props;
  if (!rows.length) return null;
  return (
    <tfoot class={rows.length > FEW ? "tall" : undefined}>
      {rows.map((row) => {
        const id = rowKey(row);
        return <Line key={id} id={id} row={row} columns={columns} class={rowClass?.(row) ?? ""} place={undefined} />;
      })}
    </tfoot>
  );
}
