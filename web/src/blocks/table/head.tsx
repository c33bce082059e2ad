import type { RefObject } from "preact";
import type { Column } from "./column";
import type { Sorting } from "./sort";

/** Titles. A click sorts by the column. */
export function Head<T>(props: {
  of: RefObject<HTMLTableSectionElement | null>;
  columns: readonly Column<T>[];
  sorting: Sorting | null;
  onSort(key: string): void;
}) {
  const { columns, sorting, onSort } = props;
  return (
    <thead ref={props.of}>
      <tr>
        {columns.map((column, number) => (
          <th
            key={column.key}
            scope="col"
            class={cellClass(columns, number)}
            aria-sort={sorting?.key === column.key ? sorting.way : undefined}
            title={column.hint || undefined}
          >
            <button type="button" onClick={() => onSort(column.key)}>
              {column.title}
            </button>
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The CSS classes of a cell in this column. */
export function cellClass<T>(columns: readonly Column<T>[], number: number): string | undefined {
  const column = columns[number];
  if (!column) return undefined;
  const isLast = column.isSticky && !columns[number + 1]?.isSticky;
  const classes = [column.isText && "text", column.room, column.isSticky && `stuck stuck-${number}`, isLast && "edge"];
  return classes.filter(Boolean).join(" ") || undefined;
}
