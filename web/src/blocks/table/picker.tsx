import { useEffect, useRef } from "preact/hooks";
import type { Column } from "./column";

/** Which columns are shown. Sticky ones always are: they say what the row is. */
export function Picker<T>(props: {
  columns: readonly Column<T>[];
  shown: readonly Column<T>[];
  onToggle(key: string): void;
}) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const isOutside =
        event instanceof KeyboardEvent ? event.key === "Escape" : !box.current?.contains(event.target as Node);
      if (!isOutside || !box.current?.open) return;
      box.current.open = false;
      if (event instanceof KeyboardEvent) box.current.querySelector("summary")?.focus();
    };
    addEventListener("pointerdown", close);
    addEventListener("keydown", close);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("keydown", close);
    };
  }, []);
  return (
    <details class="picker" ref={box}>
      <summary>Columns</summary>
      <fieldset>
        <legend class="unseen">Columns that are shown</legend>
        {props.columns
          .filter((column) => !column.isSticky)
          .map((column) => (
            <label key={column.key}>
              <input
                type="checkbox"
                checked={props.shown.includes(column)}
                onChange={() => props.onToggle(column.key)}
              />{" "}
              {column.title}
            </label>
          ))}
      </fieldset>
    </details>
  );
}
