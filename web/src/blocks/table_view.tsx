import { useCallback, useMemo, useState } from "preact/hooks";
import type { Chip as ChipData, TableBlock, TableData, TableRow } from "../contract";
import { Chip } from "./chip";
import { type Column, DataTable } from "./table";

/** A table with at least this many rows always has a filter. */
const WORTH_FILTERING = 12;
/** Columns that identify a row. They stay visible. */
const NAMES = ["Method", "Name"];

interface Entry {
  key: string;
  row: TableRow;
}

/** A table of texts, built in Python. */
export function TableView({ table, has_filter, words }: TableBlock) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const keep = useCallback((key: string, isOpen: boolean) => setOpen((was) => changed(was, key, isOpen)), []);
  const columns = useMemo(() => columnsOf(table, open, keep), [table, open, keep]);
  const { rows, totals } = useMemo(() => entriesOf(table), [table]);
  const choice = useMemo(
    () => (words.length ? { label: "Verdict", all: words, of: (entry: Entry) => wordOf(entry.row) } : undefined),
    [words],
  );
  return (
    <DataTable
      caption={table.caption}
      columns={columns}
      rows={rows}
      totals={totals}
      rowKey={keyOf}
      rowClass={kindOf}
      hasFilter={has_filter || rows.length > WORTH_FILTERING}
      words={choice}
      note={table.note}
    />
  );
}

function columnsOf(
  table: TableData,
  open: ReadonlySet<string>,
  keep: (key: string, isOpen: boolean) => void,
): Column<Entry>[] {
  const stuck = table.columns.findIndex((column) => !NAMES.includes(column.title));
  return table.columns.map((column, place) => ({
    key: String(place),
    title: column.title,
    hint: column.hint,
    isText: column.is_text,
    room: column.room,
    isSticky: place < stuck,
    text: ({ row }) => textOf(row.cells[place]),
    cell: ({ key, row }) => {
      const cell = row.cells[place];
      if (typeof cell !== "object") return cell;
      return <Chip chip={cell} isOpen={open.has(key)} onToggle={(isOpen) => keep(key, isOpen)} />;
    },
  }));
}

/** The row number is the key, because two rows may have the same text. */
function entriesOf(table: TableData): { rows: Entry[]; totals: Entry[] } {
  const entries = table.rows.map((row, place) => ({ key: String(place), row }));
  return {
    rows: entries.filter((entry) => entry.row.kind !== "total"),
    totals: entries.filter((entry) => entry.row.kind === "total"),
  };
}

function changed(open: ReadonlySet<string>, key: string, isOpen: boolean): ReadonlySet<string> {
  if (open.has(key) === isOpen) return open;
  const next = new Set(open);
  if (isOpen) next.add(key);
  else next.delete(key);
  return next;
}

function textOf(cell: string | ChipData | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
}

function wordOf(row: TableRow): string {
  return row.cells.find((cell) => typeof cell === "object")?.word ?? "";
}

function keyOf(entry: Entry): string {
  return entry.key;
}

function kindOf(entry: Entry): string {
  return entry.row.kind;
}
