import { useRef } from "preact/hooks";
import type { Column } from "./column";
import { type Width, Widths } from "./widths";

/**
 * Widths of the columns, for tables that are not in the page as a whole; null for others. They only grow:
 * they are those of a sample at first, then of every row that comes into sight.
 */
export function useWidths<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  seen: readonly T[],
  isOn: boolean,
): Width[] | null {
  const widths = useRef<Widths<T> | null>(null);
  const learned = useRef<readonly Column<T>[] | null>(null);
  if (!isOn) return null;
  widths.current ??= new Widths();
  if (learned.current !== columns) widths.current.learn(columns, rows);
  learned.current = columns;
  const { current } = widths;
  current.learn(columns, seen);
  return columns.map((column) => current.of(column));
}
