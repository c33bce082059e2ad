import type { EndpointRow, LiveUpdate, LogLine, RunHeadline, Test, WorkerItem } from "../contract";

/** The state built from all live updates. Immutable: each update makes a new one. */
export interface Seen {
  /** Of the last update. null: there is none, so the next one must be whole. */
  sequence: number | null;
  test: Test | null;
  headline: RunHeadline | null;
  total: EndpointRow | null;
  /** By `keyOf`. */
  rows: ReadonlyMap<string, EndpointRow>;
  /** Seconds between two updates of the same row. */
  rowAge: number;
  failures: number;
  exceptions: number;
  workers: readonly WorkerItem[];
  log: readonly LogLine[];
}

export const NOTHING: Seen = {
  sequence: null,
  test: null,
  headline: null,
  total: null,
  rows: new Map(),
  rowAge: 1,
  failures: 0,
  exceptions: 0,
  workers: [],
  log: [],
};

const LINES_KEPT = 2000;

export function keyOf(endpoint: { method: string; name: string }): string {
  return JSON.stringify([endpoint.method, endpoint.name]);
}

/**
 * Applies an update. Returns null if it does not follow the last one: everything must then be fetched again. A whole
 * update needs nothing before it.
 */
export function after(seen: Seen, moment: LiveUpdate): Seen | null {
  const isNext = seen.sequence !== null && moment.sequence === seen.sequence + 1;
  if (!isNext && !moment.is_whole) return null;
  return {
    sequence: moment.sequence,
    test: moment.test,
    headline: moment.headline,
    total: moment.total,
    rows: rowsAfter(seen.rows, moment),
    rowAge: moment.row_age,
    failures: moment.failures,
    exceptions: moment.exceptions,
    workers: moment.workers,
    log: logAfter(seen.log, moment.log),
  };
}

function rowsAfter(rows: Seen["rows"], moment: LiveUpdate): Seen["rows"] {
  if (!moment.is_whole && !moment.rows.length) return rows;
  const next = new Map(moment.is_whole ? [] : rows);
  for (const row of moment.rows) next.set(keyOf(row), row);
  return next;
}

/** Merges log lines. Fetched and streamed lines may overlap, and arrive in any order. */
export function logAfter(log: readonly LogLine[], lines: readonly LogLine[]): readonly LogLine[] {
  if (!lines.length) return log;
  const isLater = (lines[0]?.at ?? 0) > (log.at(-1)?.at ?? -Infinity);
  if (isLater) return [...log, ...lines].slice(-LINES_KEPT);
  const known = new Set(log.map(lineKey));
  const added = lines.filter((each) => !known.has(lineKey(each)));
  return added.length ? [...log, ...added].sort((a, b) => a.at - b.at).slice(-LINES_KEPT) : log;
}

function lineKey(line: LogLine): string {
  return `${line.at} ${line.level} ${line.text}`;
}
