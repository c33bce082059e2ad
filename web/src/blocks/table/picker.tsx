import { Dropdown } from "../dropdown";
import type { Column } from "./column";

/** Selects the visible columns. Sticky columns identify the row, so they are always visible. */
export function Picker<T>(props: {
  columns: readonly Column<T>[];
  shown: readonly Column<T>[];
  onToggle(key: string): void;
}) {
  const choices = props.columns.filter((column) => !column.isSticky);
  return (
    <Dropdown title="Columns">
      {() =>
        choices.map((column) => (
          <label key={column.key}>
            <input type="checkbox" checked={props.shown.includes(column)} onChange={() => props.onToggle(column.key)} />{" "}
            {column.title}
          </label>
        ))
      }
    </Dropdown>
  );
}
