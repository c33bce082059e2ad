/** The labels of a run or an experiment. */
export interface Labelled {
  tags: readonly string[];
  note: string;
}

/** Parses tags separated by commas. Removes duplicates and keeps the order. */
export function tagsOf(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim().replace(/\s+/g, " "));
  return [...new Set(tags.filter(Boolean))];
}

/** Formats tags for the edit field. */
export function textOf(tags: readonly string[]): string {
  return tags.join(", ");
}

/** The changes from one label to another, as the request body; null if there are none. */
export function changesOf(before: Labelled, after: Labelled): { tags: string[] | null; note: string | null } | null {
  const tags = textOf(before.tags) === textOf(after.tags) ? null : [...after.tags];
  const note = before.note === after.note ? null : after.note;
  return tags === null && note === null ? null : { tags, note };
}
