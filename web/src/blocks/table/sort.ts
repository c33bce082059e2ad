import { type Column, type Order, orderIn } from "./column";

export interface Sorting {
  key: string;
  way: "ascending" | "descending";
}

/** The next state after a click on a title: ascending or descending, then the opposite, then unsorted. */
export function nextSorting(now: Sorting | null, key: string): Sorting | null {
  if (now?.key !== key) return { key, way: "ascending" };
  return now.way === "ascending" ? { key, way: "descending" } : null;
}

/** A sorted copy. The sort is stable, so that equal rows do not jump. */
export function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], sorting: Sorting | null): readonly T[] {
  const column = columns.find((each) => each.key === sorting?.key);
  if (!sorting || !column) return rows;
  const sign = sorting.way === "ascending" ? 1 : -1;
  return rows
    .map((row) => ({ row, order: orderIn(column, row) }))
    .sort((a, b) => compare(a.order, b.order, sign))
    .map((each) => each.row);
}

const words = new Intl.Collator(undefined, { numeric: true });

/** Numbers come before text. Unknown values come last in both directions. */
function compare(a: Order, b: Order, sign: 1 | -1): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  if (typeof a === "number" || typeof b === "number") return typeof a === "number" ? -1 : 1;
  return sign * words.compare(a, b);
}
