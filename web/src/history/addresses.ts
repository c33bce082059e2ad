/** Addresses of the pages of the history, as the router reads them. */

export const RUNS = "#/runs";
export const EXPERIMENTS = "#/experiments";

export function runAddress(id: string): string {
  return `${RUNS}/${encodeURIComponent(id)}`;
}

export function experimentAddress(name: string): string {
  return `${EXPERIMENTS}/${encodeURIComponent(name)}`;
}

/** A comparison with the first run. */
export function compareAddress(refs: readonly string[]): string {
  return `#/compare${query(refs.map((ref) => ["ref", ref]))}`;
}

export function trendAddress(series: string, metric: string): string {
  return `#/trend${query([
    ["series", series],
    ["metric", metric],
  ])}`;
}

/** The runs with this tag. */
export function taggedAddress(tag: string): string {
  return `${RUNS}${query([["tag", tag]])}`;
}

/** The query part of an address, from "?"; "" if all values are empty. */
export function query(pairs: Iterable<readonly [string, string]>): string {
  const params = new URLSearchParams([...pairs].filter(([, value]) => value).map(([name, value]) => [name, value]));
  const text = params.toString();
  return text && `?${text}`;
}
