import type { ComponentChildren } from "preact";

/** A column of a table with rows of type T. */
export interface Column<T> {
  /** Unique in its table. */
  key: string;
  title: string;
  /** Shown when the pointer is over the title. */
  hint?: string | undefined;
  /** Text: left-aligned, may wrap. Other columns are numbers. */
  isText?: boolean | undefined;
  /** "word": never wraps. "name": never wraps, and is cut when it does not fit. "long": sentences. */
  room?: "" | "word" | "name" | "long" | undefined;
  /** Stays visible when the table scrolls sideways. Only for the first columns. */
  isSticky?: boolean | undefined;
  /** Hidden until the reader selects it. */
  isOff?: boolean | undefined;
  /** The content as text. The search uses it. */
  text(row: T): string;
  /** The content as drawn, if it is more than text. */
  cell?: ((row: T) => ComponentChildren) | undefined;
  /** The sort key; null sorts last in both directions. Default: the number that the text begins with, or the text. */
  order?: ((row: T) => Order) | undefined;
}

export type Order = number | string | null;

/** The sort key of a row in this column. */
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
