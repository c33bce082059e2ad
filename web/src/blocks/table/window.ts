/** The rows that are in the page. Heights are in px. */
export interface Window {
  /** The first row drawn, and the row after the last. */
  from: number;
  to: number;
  /** The height of the rows above, and of those below. */
  above: number;
  below: number;
}

/** Extra rows drawn above and below the visible ones, so that fast scrolling shows no gaps. */
const SPARE = 12;
/** The window moves in steps of this many rows, so that most scrolling draws nothing. */
const STEP = 6;

/**
 * count: number of rows. heightOf: height of a row. top: scroll offset. room: visible height. Draws all rows if only a
 * few would be left out.
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
