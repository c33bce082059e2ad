import type { ComponentChildren, RefObject } from "preact";
import type { Column } from "./column";
import { Line } from "./line";
import type { Window } from "./window";

/** The visible rows, with empty space for the rows above and below. children replace the rows. */
export function Body<T>(props: {
  of: RefObject<HTMLTableSectionElement | null>;
  columns: readonly Column<T>[];
  /** The rows of the window. */
  rows: readonly T[];
  view: Window;
  isMany: boolean;
  rowKey(row: T): string;
  rowClass: ((row: T) => string) | undefined;
  children?: ComponentChildren;
}) {
  const { columns, rows, view, isMany, rowKey, rowClass } = props;
  return (
    <tbody ref={props.of}>
      <Gap key="above" height={view.above} columns={columns.length} />
      {rows.map((row, place) => {
        const id = rowKey(row);
        const number = isMany ? view.from + place + 2 : undefined;
        return (
          <Line key={`row ${id}`} id={id} row={row} columns={columns} class={rowClass?.(row) ?? ""} place={number} />
        );
      })}
      <Gap key="below" height={view.below} columns={columns.length} />
      {props.children}
    </tbody>
  );
}

/** Fills the height of the rows that are not drawn. */
function Gap({ height, columns }: { height: number; columns: number }) {
  if (!height) return null;
  return (
    <tr class="gap" aria-hidden="true" style={{ height: `${height}px` }}>
      <td colSpan={columns} />
    </tr>
  );
}
