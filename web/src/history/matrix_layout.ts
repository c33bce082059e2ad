import type { CellItem, Matrix } from "../contract";

/** Variants × levels of one operation. */
export interface Sheet {
  operation: string;
  rows: SheetRow[];
}

export interface SheetRow {
  variant: string;
  /** One list of cells per level, in the order of the levels. */
  places: CellItem[][];
}

/** The cells by position. Repeats are in order of their number; a superseded cell comes before its replacement. */
export function sheetsOf(matrix: Pick<Matrix, "variants" | "levels" | "operations" | "cells">): Sheet[] {
  const places = new Map<string, CellItem[]>();
  for (const cell of matrix.cells) {
    const key = keyOf(cell.operation, cell.variant, cell.level);
    const place = places.get(key);
    if (place) place.push(cell);
    else places.set(key, [cell]);
  }
  for (const place of places.values()) place.sort(byRepeat);
  return matrix.operations.map((operation) => ({
    operation,
    rows: matrix.variants.map((variant) => ({
      variant,
      places: matrix.levels.map((level) => places.get(keyOf(operation, variant, level)) ?? []),
    })),
  }));
}

/** "json, 4 users, repeat 2". Omits a dimension that has only one value. */
export function cellName(cell: CellItem, matrix: Pick<Matrix, "operations" | "repeats">): string {
  const repeat = matrix.repeats > 1 ? `repeat ${String(cell.repeat)}` : "";
  const operation = matrix.operations.length > 1 ? cell.operation : "";
  return [cell.variant, cell.level, operation, repeat].filter(Boolean).join(", ");
}

function keyOf(...names: string[]): string {
  return JSON.stringify(names);
}

function byRepeat(a: CellItem, b: CellItem): number {
  return a.repeat - b.repeat || Number(b.state === "superseded") - Number(a.state === "superseded");
}
