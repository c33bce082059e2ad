/** Addresses of the pages of the history, as the router reads them. */

export const RUNS = "#/runs";
export const EXPERIMENTS = "#/experiments";

export function runAddress(id: string): string {
  return `${RUNS}/${encodeURIComponent(id)}`;
}

export function experimentAddress(name: string): string {
  return `${EXPERIMENTS}/${encodeURIComponent(name)}`;
}

/** Of a comparison with the first of them. */
export function compareAddress(refs: readonly string[]): string {
  return `#/compare${query(refs.map((ref) => ["ref", ref]))}`;
}

export function trendAddress(series: string, metric: string): string {
  return `#/trend${query([
    ["series", series],
    ["metric", metric],
  ])}`;
}

/** The runs that have this tag. */
export function taggedAddress(tag: string): string {
  return `${RUNS}${query([["tag", tag]])}`;
}

/** Names and values as the part of an address from "?" on; "" for none. Values that are empty are left out. */
export function query(pairs: Iterable<readonly [string, string]>): string {
  const params = new URLSearchParams([...pairs].filter(([, value]) => value).map(([name, value]) => [name, value]));
  const text = params.toString();
  return text && `?${text}`;
}
