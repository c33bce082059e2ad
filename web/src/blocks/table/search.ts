import type { Column } from "./column";

/** Whether every word of what is searched for stands somewhere in the row. */
export function hasAll<T>(row: T, columns: readonly Column<T>[], search: string): boolean {
  const wanted = wordsOf(search);
  if (!wanted.length) return true;
  const text = columns
    .map((column) => column.text(row))
    .join("\n")
    .toLowerCase();
  return wanted.every((word) => text.includes(word));
}

function wordsOf(search: string): string[] {
  return search.toLowerCase().split(/\s+/).filter(Boolean);
}
