import { useRef } from "preact/hooks";
import type { Column } from "./column";
import { type Width, Widths } from "./widths";

/**
 * The column widths of a table of which only a part is in the page; null for other tables. They start from a sample and
 * grow with each row that becomes visible. They never shrink.
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
