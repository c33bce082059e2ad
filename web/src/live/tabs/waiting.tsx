import type { JSX } from "preact";
import type { Column } from "../../blocks/table/column";
import type { EndpointRow } from "../../contract";

/** Names in the order that people expect: 2 comes before 10. */
export const naturalOrder = new Intl.Collator(undefined, { numeric: true });

/** Waiting of all endpoints, in s. Rows of streams have none of their own. */
export function waitingOf(rows: Iterable<EndpointRow>): number {
  let sum = 0;
  for (const row of rows) sum += row.waited_s;
  return sum;
}

/** The share of an endpoint in all waiting: a percentage above a bar. whole: s of all endpoints. */
export function waitingColumn(whole: number): Column<EndpointRow> {
  const shareOf = (row: EndpointRow) => (whole > 0 ? Math.min(1, row.waited_s / whole) : 0);
  const text = (row: EndpointRow) => worded(shareOf(row));
  return {
    key: "waiting",
    title: "Waiting",
    hint: "share of all waiting: the sum of its response times, of that of all endpoints",
    text,
    cell: (row) => <Bar share={shareOf(row)} text={text(row)} />,
    order: (row) => row.waited_s,
  };
}

function Bar({ share, text }: { share: number; text: string }): JSX.Element {
  return (
    <span class="waiting">
      {text}
      <i style={{ width: `${100 * share}%` }} />
    </span>
  );
}

function worded(share: number): string {
  if (share === 0) return "–";
  return share < 0.005 ? "<1 %" : `${(100 * share).toFixed(0)} %`;
}

/** A copy in the order of every table: the endpoint that users wait for most first, then by name. */
export function byWaiting(rows: Iterable<EndpointRow>): EndpointRow[] {
  return [...rows].sort(
    (a, b) =>
      b.waited_s - a.waited_s || naturalOrder.compare(a.name, b.name) || naturalOrder.compare(a.method, b.method),
  );
}

/** At most so many endpoints, in the order of every table: those that fail most often and those with the most waiting. */
export function mostNotable(rows: Iterable<EndpointRow>, most: number): EndpointRow[] {
  const ranked = byWaiting(rows);
  const failing = ranked.filter((row) => row.failures > 0).sort((a, b) => b.failures - a.failures);
  const places = new Map(ranked.map((row, place) => [row, place]));
  failing.forEach((row, place) => places.set(row, Math.min(place, places.get(row) ?? place)));
  const best = [...places].sort(([, a], [, b]) => a - b).slice(0, most);
  const kept = new Set(best.map(([row]) => row));
  return ranked.filter((row) => kept.has(row));
}
