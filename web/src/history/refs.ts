/** The sources of a comparison. The others are compared with the first. */
export type Refs = readonly string[];

/** Without duplicates, in the order of first mention. */
export function distinct(refs: Refs): string[] {
  return [...new Set(refs.filter(Boolean))];
}

export function added(refs: Refs, ref: string): string[] {
  return distinct([...refs, ref]);
}

export function removed(refs: Refs, ref: string): string[] {
  return refs.filter((each) => each !== ref);
}

/** Moves a ref to the front: the others are compared with it. */
export function asFirst(refs: Refs, ref: string): string[] {
  return [ref, ...removed(refs, ref)];
}

/** Moves a ref one place forward (-1) or back (1). */
export function moved(refs: Refs, ref: string, by: -1 | 1): string[] {
  const at = refs.indexOf(ref);
  const to = at + by;
  const other = refs[to];
  if (at < 0 || other === undefined) return [...refs];
  return refs.map((each, place) => (place === at ? other : place === to ? ref : each));
}
