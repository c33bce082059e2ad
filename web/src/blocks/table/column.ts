import type { ComponentChildren } from "preact";

/** A column of a table of Ts. */
export interface Column<T> {
  /** Unique in its table. */
  key: string;
  title: string;
  /** Shown to those who point at the title. */
  hint?: string | undefined;
  /** Left-aligned; may be broken into lines. Others are numbers. */
  isText?: boolean | undefined;
  /** "word": never broken into lines. "name": neither, and cut where there is no room. "long": sentences. */
  room?: "" | "word" | "name" | "long" | undefined;
  /** Stays in sight when the table is moved sideways; for the first columns. */
  isSticky?: boolean | undefined;
  /** Not shown until somebody chooses it. */
  isOff?: boolean | undefined;
  /** What stands in it, and what is searched. */
  text(row: T): string;
  /** What is drawn, where that is more than the text. */
  cell?: ((row: T) => ComponentChildren) | undefined;
  /** What is sorted by; null is last, whichever way. Without it: the text, and by the number that it begins with. */
  order?: ((row: T) => Order) | undefined;
}

export type Order = number | string | null;

/** What a row is sorted by in this column. */
export function orderIn<T>(column: Column<T>, row: T): Order {
  return column.order ? column.order(row) : orderOf(column.text(row));
}

/** The number that a text begins with ("≥1 200.5", "×1.05", "−3 %"), or the text; null for "–". */
export function orderOf(text: string): Order {
  const plain = text.replace(/[\s\u00a0\u202f≥]/g, "").replace(/^−/, "-");
  if (plain === "" || plain === "–") return null;
  const number = /^[×[<>+]*(-?\d+(?:\.\d+)?)/.exec(plain)?.[1];
  return number === undefined ? text : parseFloat(number);
}
