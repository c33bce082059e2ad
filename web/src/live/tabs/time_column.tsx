import type { Column } from "../../blocks/table/column";
import type { EndpointRow } from "../../contract";
import { milliseconds, type TimeName } from "../../shared";

const FEW = "of so few requests that the slowest ones decide";

/** A time of an endpoint, in ms. */
export function timeColumn(key: TimeName, title: string, hint?: string, isOff = false): Column<EndpointRow> {
  const text = (row: EndpointRow) => milliseconds(row[key], row.at_least.includes(key));
  return {
    key,
    title,
    hint,
    isOff,
    text,
    cell: (row) =>
      isFew(row, key) ? (
        <span class="few" title={FEW}>
          {text(row)}
        </span>
      ) : (
        text(row)
      ),
    order: (row) => row[key],
  };
}

/** There is a value, and it says little. */
function isFew(row: EndpointRow, key: TimeName): boolean {
  return row[key] !== null && row.few.includes(key);
}

/** What is to be said below a table with such. "" for nothing. */
export function noteOfFew(rows: Iterable<EndpointRow>, keys: readonly TimeName[]): string {
  for (const row of rows) if (keys.some((key) => isFew(row, key))) return `In grey: percentiles ${FEW}.`;
  return "";
}
