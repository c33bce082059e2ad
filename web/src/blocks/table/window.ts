/** Rows of which only those in sight are in the page. Heights are px. */
export interface Window {
  /** The first row that is drawn, and the one after the last. */
  from: number;
  to: number;
  /** Of the rows above, and of those below. */
  above: number;
  below: number;
}

/** Rows drawn above and below what is in sight, so that fast scrolling shows no gaps. */
const SPARE = 12;
/** The window moves in steps of so many rows: most scrolling draws nothing. */
const STEP = 6;

/**
 * count: of rows. heightOf: of each. top: how far it is scrolled. room: what is seen of it.
 * All of them are drawn where that is not many more than fit.
 */
export function windowOf(count: number, heightOf: (row: number) => number, top: number, room: number): Window {
  let [first, at] = [0, 0];
  while (first < count && at + heightOf(first) <= top) at += heightOf(first++);
  let last = first;
  for (let seen = at; last < count && seen < top + room; last++) seen += heightOf(last);
  const from = Math.max(0, Math.floor((first - SPARE) / STEP) * STEP);
  const to = Math.min(count, Math.ceil((last + SPARE) / STEP) * STEP);
  return { from, to, above: sum(0, from, heightOf), below: sum(to, count, heightOf) };
}

function sum(from: number, to: number, heightOf: (row: number) => number): number {
  let height = 0;
  for (let row = from; row < to; row++) height += heightOf(row);
  return height;
}
