import type { Column } from "../../blocks/table/column";
import type { EndpointRow } from "../../contract";
import { markOf, milliseconds, shareOf, type TimeName } from "../../shared";

const FEW = "of so few requests that the slowest ones decide";

/** A column with a time of an endpoint, in ms. */
export function timeColumn(key: TimeName, title: string, hint?: string, isOff = false): Column<EndpointRow> {
  const text = (row: EndpointRow) => `${milliseconds(row[key], row.at_least.includes(key))}${markOf(row.shares[key])}`;
  return {
    key,
    title,
    hint,
    isOff,
    text,
    cell: (row) => {
      const few = isFew(row, key);
      const hints = [shareOf(row.shares[key]), few && FEW].filter(Boolean);
      if (!hints.length) return text(row);
      return (
        <span class={few ? "few" : undefined} title={hints.join("; ")}>
          {text(row)}
        </span>
      );
    },
    order: (row) => row[key],
  };
}

/** The value comes from too few requests. */
function isFew(row: EndpointRow, key: TimeName): boolean {
  return row[key] !== null && row.few.includes(key);
}

/** The meaning of "*" in a table of these rows; "" if no row has it. */
export function noteOfShares(rows: Iterable<EndpointRow>, keys: readonly TimeName[]): string {
  const shares = [...rows].flatMap((row) => keys.map((key) => row.shares[key] ?? 0));
  const largest = Math.max(0, ...shares);
  return largest ? `${markOf(largest)} up to ${milliseconds(largest)} ms of a marked time is the generator's.` : "";
}

/** The note below a table whose values come from too few requests; "" for none. */
export function noteOfFew(rows: Iterable<EndpointRow>, keys: readonly TimeName[]): string {
  for (const row of rows) if (keys.some((key) => isFew(row, key))) return `In grey: percentiles ${FEW}.`;
  return "";
}
