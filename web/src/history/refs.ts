/** What a comparison is of: the first is what the others are held against. */
export type Refs = readonly string[];

/** Each once, in the order of their first mention. */
export function distinct(refs: Refs): string[] {
  return [...new Set(refs.filter(Boolean))];
}

export function added(refs: Refs, ref: string): string[] {
  return distinct([...refs, ref]);
}

export function removed(refs: Refs, ref: string): string[] {
  return refs.filter((each) => each !== ref);
}

/** With one of them moved to the front: from now on the others are compared with it. */
export function asFirst(refs: Refs, ref: string): string[] {
  return [ref, ...removed(refs, ref)];
}

/** With one of them a place further to the front, or to the end (by 1). */
export function moved(refs: Refs, ref: string, by: -1 | 1): string[] {
  const at = refs.indexOf(ref);
  const to = at + by;
  const other = refs[to];
  if (at < 0 || other === undefined) return [...refs];
  return refs.map((each, place) => (place === at ? other : place === to ? ref : each));
}
