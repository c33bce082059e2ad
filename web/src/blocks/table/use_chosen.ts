import { useMemo, useState } from "preact/hooks";
import type { Column } from "./column";

/** The reader's choices by column key. A column without a choice has no entry. */
type Choices = Record<string, boolean>;

/** The visible columns, and functions to change them. name: the storage key; undefined: no selection. */
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
    // A local file, or a browser without storage: the choice lasts until the page closes.
  }
}

function place(name: string): string {
  return `plimsoll-columns-${name}`;
}
