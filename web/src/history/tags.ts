/** What people say of a run or an experiment. */
export interface Labelled {
  tags: readonly string[];
  note: string;
}

/** Tags as they are typed, with commas between them. Each once, in the order in which they were typed. */
export function tagsOf(text: string): string[] {
  const tags = text.split(",").map((tag) => tag.trim().replace(/\s+/g, " "));
  return [...new Set(tags.filter(Boolean))];
}

/** The other way round, for the field in which they are edited. */
export function textOf(tags: readonly string[]): string {
  return tags.join(", ");
}

/** What has to be sent to make one label of another; null when nothing has changed. */
export function changesOf(before: Labelled, after: Labelled): { tags: string[] | null; note: string | null } | null {
  const tags = textOf(before.tags) === textOf(after.tags) ? null : [...after.tags];
  const note = before.note === after.note ? null : after.note;
  return tags === null && note === null ? null : { tags, note };
}
