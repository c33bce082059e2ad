import { Component } from "preact";
import type { Column } from "./column";
import { cellClass } from "./head";

interface LineProps<T> {
  id: string;
  row: T;
  columns: readonly Column<T>[];
  class: string;
  /** The row's index in the whole table, if only some rows are in the page. */
  place: number | undefined;
}

/** A row. It renders again only for a new row object: only a few of thousands change each second. */
export class Line<T> extends Component<LineProps<T>> {
  override shouldComponentUpdate(next: LineProps<T>): boolean {
    const { row, columns, place, class: kind } = this.props;
    return row !== next.row || columns !== next.columns || place !== next.place || kind !== next.class;
  }

  override render() {
    const { id, row, columns, place, class: kind } = this.props;
    return (
      <tr class={kind || undefined} data-key={id} aria-rowindex={place}>
        {columns.map((column, number) => (
          <td
            key={column.key}
            class={cellClass(columns, number)}
            title={column.room === "name" ? column.text(row) : undefined}
          >
            {column.cell?.(row) ?? column.text(row)}
          </td>
        ))}
      </tr>
    );
  }
}
