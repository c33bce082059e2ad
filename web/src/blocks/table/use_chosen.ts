import { useMemo, useState } from "preact/hooks";
import type { Column } from "./column";

/** Chosen columns by key: true or false where somebody has chosen, nothing where not. */
type Choices = Record<string, boolean>;

/** The columns that are shown, and what changes that. name: what the choice is kept as; undefined: there is none. */
export function useChosen<T>(name: string | undefined, columns: readonly Column<T>[]) {
  const [choices, setChoices] = useState<Choices>(() => (name ? kept(name) : {}));
  const shown = useMemo(
    () => columns.filter((column) => column.isSticky || (choices[column.key] ?? !column.isOff)),
    [columns, choices],
  );
  const toggle = (key: string) => {
    const next = { ...choices, [key]: !shown.some((column) => column.key === key) };
    setChoices(next);
    if (name) keep(name, next);
  };
  return { columns: shown, isOffered: name !== undefined, toggle };
}

function kept(name: string): Choices {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(place(name)) ?? "{}");
    return typeof found === "object" && found !== null ? (found as Choices) : {};
  } catch {
    return {};
  }
}

function keep(name: string, choices: Choices): void {
  try {
    localStorage.setItem(place(name), JSON.stringify(choices));
  } catch {
    // A file, or a browser that keeps nothing: it holds as long as the page does.
  }
}

function place(name: string): string {
  return `plimsoll-columns-${name}`;
}
