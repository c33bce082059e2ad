import type { Column } from "./column";

/** Whether the row contains every word of the search. */
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
