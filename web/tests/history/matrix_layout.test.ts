import { describe, expect, it } from "vitest";
import type { CellItem } from "../../src/contract";
import { cellName, sheetsOf } from "../../src/history/matrix_layout";

function cell(variant: string, level: string, repeat: number, more: Partial<CellItem> = {}): CellItem {
  return {
    number: 1,
    variant,
    level,
    operation: "",
    repeat,
    state: "valid",
    reason: "",
    run: `${variant}-${level}-${String(repeat)}`,
    summary: null,
    ...more,
  };
}

describe("the cells of an experiment", () => {
  const base = { variants: ["old", "new"], levels: ["4 users", "16 users"], operations: [""] };

  it("are placed by variant, level and repeat", () => {
    const cells = [cell("new", "4 users", 2), cell("old", "16 users", 1), cell("new", "4 users", 1)];
    const [sheet] = sheetsOf({ ...base, cells });
    expect(sheet?.rows.map((row) => row.variant)).toEqual(["old", "new"]);
    expect(sheet?.rows[0]?.places.map((place) => place.length)).toEqual([0, 1]);
    expect(sheet?.rows[1]?.places[0]?.map((each) => each.repeat)).toEqual([1, 2]);
    expect(sheet?.rows[1]?.places[1]).toEqual([]);
  });

  it("are split into one sheet per operation", () => {
    const cells = [cell("old", "4 users", 1, { operation: "read" }), cell("old", "4 users", 1, { operation: "write" })];
    const sheets = sheetsOf({ ...base, operations: ["read", "write"], cells });
    expect(sheets.map((sheet) => sheet.operation)).toEqual(["read", "write"]);
    expect(sheets.map((sheet) => sheet.rows[0]?.places[0]?.length)).toEqual([1, 1]);
  });

  it("come before their replacement when they are superseded", () => {
    const cells = [cell("old", "4 users", 1), cell("old", "4 users", 1, { state: "superseded" })];
    const [sheet] = sheetsOf({ ...base, cells });
    expect(sheet?.rows[0]?.places[0]?.map((each) => each.state)).toEqual(["superseded", "valid"]);
  });

  it("are not mixed up when joined names are equal", () => {
    const cells = [cell("a", "b c", 1), cell("a b", "c", 1)];
    const [sheet] = sheetsOf({ variants: ["a", "a b"], levels: ["b c", "c"], operations: [""], cells });
    expect(sheet?.rows.map((row) => row.places.map((place) => place.length))).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it("are named by the dimensions that differ", () => {
    const one = cell("old", "4 users", 2, { operation: "read" });
    expect(cellName(one, { operations: ["read", "write"], repeats: 3 })).toBe("old, 4 users, read, repeat 2");
    expect(cellName(one, { operations: ["read"], repeats: 1 })).toBe("old, 4 users");
  });
});
