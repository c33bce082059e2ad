import type { Column } from "./column";

/** Rows that are looked at before anything is drawn. */
const SAMPLE = 400;
/** Characters that a column of words gets at least where there is little room; longer texts are broken. */
const FEWEST = 24;
const SHORTEST = 3;

/** Of a column, in characters. */
export interface Width {
  /** At least. */
  least: number;
  /** Takes what room is left. */
  isOpen: boolean;
}

/**
 * Widths of columns for tables of which only a part is in the page: a column must not become wider or narrower because
 * other rows are in sight. They only grow.
 */
export class Widths<T> {
  private readonly known = new Map<string, number>();

  /** Looks at rows that are drawn or will be. */
  learn(columns: readonly Column<T>[], rows: readonly T[]): void {
    const step = Math.max(1, Math.floor(rows.length / SAMPLE));
    for (const column of columns) {
      let most = this.known.get(column.key) ?? titleWidth(column.title);
      for (let place = 0; place < rows.length; place += step) {
        most = Math.max(most, column.text(rows[place] as T).length);
      }
      this.known.set(column.key, most);
    }
  }

  of(column: Column<T>): Width {
    const most = this.known.get(column.key) ?? SHORTEST;
    return column.isText && most > FEWEST ? { least: FEWEST, isOpen: true } : { least: most, isOpen: false };
  }
}

/** Titles are broken between words, and are somewhat bolder than numbers. */
function titleWidth(title: string): number {
  return Math.max(SHORTEST, ...title.split(/\s+/).map((word) => word.length + 1));
}
