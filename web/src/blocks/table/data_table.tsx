import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { Body } from "./body";
import type { Column } from "./column";
import { Columns, leastWidth } from "./columns";
import { Foot } from "./foot";
import { Head } from "./head";
import { Picker } from "./picker";
import { hasAll } from "./search";
import { type Sorting, nextSorting, sorted } from "./sort";
import { Tools } from "./tools";
import { useChosen } from "./use_chosen";
import { useOverflow } from "./use_overflow";
import { useSticky } from "./use_sticky";
import { useWidths } from "./use_widths";
import { useWindow } from "./use_window";

/** A table with more rows scrolls in a region of its own, and only its visible rows are in the page. */
const MANY = 40;

/** Pass the same `columns`, `rowKey`, `rowClass` and `words` objects on every render. */
export interface DataTableProps<T> {
  caption: string;
  /** The page already shows the caption, so only screen readers get it here. */
  hidesCaption?: boolean | undefined;
  columns: readonly Column<T>[];
  rows: readonly T[];
  /** Unique in the table, and stable while the row exists. */
  rowKey(row: T): string;
  /** Rows that stay at the bottom under any sorting and filter. */
  totals?: readonly T[] | undefined;
  /** "void" (grey: the row is invalid), "current". */
  rowClass?: ((row: T) => string) | undefined;
  hasFilter?: boolean | undefined;
  /** A second filter: its label and its values. */
  words?: Words<T> | undefined;
  /** The reader can select columns. The selection is stored under this name. */
  chosenAs?: string | undefined;
  sortedBy?: Sorting | null | undefined;
  note?: string | undefined;
  /** Shown next to the filter. */
  children?: ComponentChildren;
}

export interface Words<T> {
  label: string;
  all: readonly string[];
  of(row: T): string;
}

/** A table that sorts, filters and scrolls, even with thousands of rows that change every second. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { caption, rows, rowKey, rowClass, totals = [], words } = props;
  const id = useId();
  const region = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const head = useRef<HTMLTableSectionElement>(null);
  const [sorting, setSorting] = useState<Sorting | null>(props.sortedBy ?? null);
  const [search, setSearch] = useState("");
  const [word, setWord] = useState("");
  const { columns, isOffered, toggle } = useChosen(props.chosenAs, props.columns);

  const found = useMemo(
    () => rows.filter((row) => (!word || words?.of(row) === word) && hasAll(row, columns, search)),
    [rows, columns, search, word, words],
  );
  const inOrder = useMemo(() => sorted(found, columns, sorting), [found, columns, sorting]);
  const keys = useMemo(() => inOrder.map(rowKey), [inOrder, rowKey]);
  const isMany = rows.length > MANY;
  const view = useWindow(region, body, keys, isMany);
  const seen = inOrder.slice(view.from, view.to);
  const widths = useWidths(columns, rows, seen, isMany);
  const overflows = useOverflow(region);
  useSticky(region, head, columns);
  useEffect(() => region.current?.scrollTo({ top: 0 }), [search, word, sorting]);

  const filters = { hasFilter: props.hasFilter === true, search, onSearch: setSearch, words, word, onWord: setWord };
  return (
    <div class={`table${isMany ? " many" : ""}`}>
      <Tools caption={caption} {...filters} found={found.length} all={rows.length}>
        {props.children}
        {isOffered && <Picker columns={props.columns} shown={columns} onToggle={toggle} />}
      </Tools>
      <div class="region" ref={region} {...(overflows && { role: "region", "aria-labelledby": id, tabIndex: 0 })}>
        <table
          aria-rowcount={isMany ? inOrder.length + totals.length + 1 : undefined}
          style={{ minWidth: leastWidth(widths) }}
        >
          <caption id={id} class={props.hidesCaption ? "unseen" : undefined}>
            {caption}
          </caption>
          <Columns widths={widths} />
          <Head of={head} columns={columns} sorting={sorting} onSort={(key) => setSorting(nextSorting(sorting, key))} />
          <Body of={body} columns={columns} rows={seen} view={view} isMany={isMany} rowKey={rowKey} rowClass={rowClass}>
            {!inOrder.length && rows.length > 0 && (
              <tr class="none">
                <td colSpan={columns.length}>Nothing fits the filter.</td>
              </tr>
            )}
          </Body>
          <Foot columns={columns} rows={totals} rowKey={rowKey} rowClass={rowClass} />
        </table>
      </div>
      {props.note && <p class="note">{props.note}</p>}
    </div>
  );
}
