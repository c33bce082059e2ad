import type { Column } from "./column";

/** Rows to measure before the first drawing. */
const SAMPLE_ROWS = 400;
/** Minimum width of a text column in characters, when space is short. Longer texts wrap. */
const MIN_TEXT_CHARACTERS = 24;
const SHORTEST = 3;

/** The width of a column in characters. */
export interface Width {
  /** The minimum. */
  least: number;
  /** Takes the remaining space. */
  isOpen: boolean;
}

/**
 * Column widths of a table of which only a part is in the page. They only grow, so that a column does not change while
 * the reader scrolls.
 */
export class Widths<T> {
  private readonly known = new Map<string, number>();

  /** Measures rows that are drawn, or will be. */
  learn(columns: readonly Column<T>[], rows: readonly T[]): void {
    const step = Math.max(1, Math.floor(rows.length / SAMPLE_ROWS));
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
    return column.isText && most > MIN_TEXT_CHARACTERS
      ? { least: MIN_TEXT_CHARACTERS, isOpen: true }
      : { least: most, isOpen: false };
  }
}

/** Titles wrap between words, and are slightly bolder than numbers. */
function titleWidth(title: string): number {
  return Math.max(SHORTEST, ...title.split(/\s+/).map((word) => word.length + 1));
}
