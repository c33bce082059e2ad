import { expect, test } from "vitest";
import type { Column } from "../../../src/blocks/table/column";
import { nextSorting, sorted } from "../../../src/blocks/table/sort";

interface Item {
  name: string;
  p99: number | null;
}

const columns: Column<Item>[] = [
  { key: "name", title: "Name", isText: true, text: (item) => item.name },
  { key: "p99", title: "p99", text: (item) => String(item.p99), order: (item) => item.p99 },
];
const items: Item[] = [
  { name: "/b", p99: 20 },
  { name: "/a", p99: null },
  { name: "/c10", p99: 5 },
  { name: "/c9", p99: 20 },
];
const names = (rows: readonly Item[]) => rows.map((item) => item.name);

test("three clicks sort ascending, descending, and not at all", () => {
  const first = nextSorting(null, "p99");
  expect(first).toEqual({ key: "p99", way: "ascending" });
  const second = nextSorting(first, "p99");
  expect(second).toEqual({ key: "p99", way: "descending" });
  expect(nextSorting(second, "p99")).toBeNull();
  expect(nextSorting(second, "name")).toEqual({ key: "name", way: "ascending" });
});

test("unknown values are last in both directions", () => {
  expect(names(sorted(items, columns, { key: "p99", way: "ascending" }))).toEqual(["/c10", "/b", "/c9", "/a"]);
  expect(names(sorted(items, columns, { key: "p99", way: "descending" }))).toEqual(["/b", "/c9", "/c10", "/a"]);
});

test("numbers inside names sort as numbers", () => {
  expect(names(sorted(items, columns, { key: "name", way: "ascending" }))).toEqual(["/a", "/b", "/c9", "/c10"]);
});

test("without a sort order, rows keep their order, also when numbers change", () => {
  expect(sorted(items, columns, null)).toBe(items);
  const changed = items.map((item) => ({ ...item, p99: (item.p99 ?? 0) * 3 }));
  expect(names(sorted(changed, columns, { key: "name", way: "ascending" }))).toEqual(["/a", "/b", "/c9", "/c10"]);
});

test("numbers come before text in a mixed column", () => {
  const mixed: Column<string>[] = [
    { key: "a", title: "A", text: (row) => row, order: (row) => (/^\d+$/.test(row) ? Number(row) : row) },
  ];
  expect(sorted(["x", "2", "1"], mixed, { key: "a", way: "descending" })).toEqual(["2", "1", "x"]);
});
