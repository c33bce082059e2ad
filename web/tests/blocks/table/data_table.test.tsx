import { beforeEach, expect, test } from "vitest";
import { type Column, DataTable, type DataTableProps } from "../../../src/blocks/table";
import { printing } from "../../../src/blocks/printing";
import { doing, picked, shown, typed } from "../../page";

interface Item {
  name: string;
  count: number;
  verdict?: string;
}

const columns: Column<Item>[] = [
  { key: "name", title: "Name", isText: true, isSticky: true, text: (item) => item.name },
  { key: "count", title: "# Requests", hint: "all of them", text: (item) => String(item.count) },
  { key: "twice", title: "Twice", isOff: true, text: (item) => String(2 * item.count) },
];
const items: Item[] = [
  { name: "/b", count: 2, verdict: "DIFFERENT" },
  { name: "/a", count: 10, verdict: "EQUIVALENT" },
  { name: "/c", count: 1, verdict: "DIFFERENT" },
];
const total: Item = { name: "Aggregated", count: 13 };
const rowKey = (item: Item) => item.name;

function table(props: Partial<DataTableProps<Item>> = {}) {
  return <DataTable caption="Requests" columns={columns} rows={items} rowKey={rowKey} {...props} />;
}

const many = (count: number): Item[] =>
  Array.from({ length: count }, (_, place) => ({ name: `/items/${place}`, count: place }));

beforeEach(() => localStorage.clear());

test("a click on a title sorts and sets aria-sort", () => {
  const page = shown(table({ totals: [total] }));
  const names = () => page.texts("tbody td:first-child");
  expect(names()).toEqual(["/b", "/a", "/c"]);
  doing(() => page.all("thead button")[1]?.click());
  expect(names()).toEqual(["/c", "/b", "/a"]);
  expect(page.all("th")[1]?.getAttribute("aria-sort")).toBe("ascending");
  doing(() => page.all("thead button")[1]?.click());
  expect(names()).toEqual(["/a", "/b", "/c"]);
  expect(page.all("th")[1]?.getAttribute("aria-sort")).toBe("descending");
  doing(() => page.all("thead button")[1]?.click());
  expect(names()).toEqual(["/b", "/a", "/c"]);
  expect(page.all("[aria-sort]")).toEqual([]);
});

test("totals stay at the bottom under any sorting and filter", () => {
  const page = shown(table({ totals: [total], hasFilter: true }));
  doing(() => page.all("thead button")[1]?.click());
  typed(page.one("input[type=search]"), "/c");
  expect(page.texts("tbody td:first-child")).toEqual(["/c"]);
  expect(page.texts("tfoot td:first-child")).toEqual(["Aggregated"]);
});

test("the filter shows how many rows match, and when none does", () => {
  const page = shown(table({ hasFilter: true }));
  expect(page.one("output").textContent).toBe("3 rows");
  typed(page.one("input[type=search]"), "a");
  expect(page.one("output").textContent).toBe("1 of 3 rows");
  typed(page.one("input[type=search]"), "nothing of that kind");
  expect(page.one("tbody").textContent).toBe("Nothing fits the filter.");
});

test("rows can be filtered by a word", () => {
  const words = { label: "Verdict", all: ["DIFFERENT", "EQUIVALENT"], of: (item: Item) => item.verdict ?? "" };
  const page = shown(table({ words }));
  picked(page.one("select"), "DIFFERENT");
  expect(page.texts("tbody td:first-child")).toEqual(["/b", "/c"]);
  picked(page.one("select"), "");
  expect(page.all("tbody tr")).toHaveLength(3);
});

test("a changed number moves a row only if the table is sorted by it", () => {
  const page = shown(table());
  const changed = items.map((item) => ({ ...item, count: 100 - item.count }));
  void page.draw(table({ rows: changed }));
  expect(page.texts("tbody td:first-child")).toEqual(["/b", "/a", "/c"]);
  doing(() => page.all("thead button")[1]?.click());
  expect(page.texts("tbody td:first-child")).toEqual(["/a", "/b", "/c"]);
  void page.draw(table({ rows: items }));
  expect(page.texts("tbody td:first-child")).toEqual(["/c", "/b", "/a"]);
});

test("an unchanged row does not render again", () => {
  let drawn = 0;
  const counted = columns.map((column) => ({ ...column, cell: (item: Item) => (drawn++, column.text(item)) }));
  const page = shown(table({ columns: counted }));
  drawn = 0;
  const changed = items.map((item, place) => (place === 1 ? { ...item, count: 11 } : item));
  void page.draw(table({ columns: counted, rows: changed }));
  expect(drawn).toBe(2);
});

test("columns can be selected, and the selection is stored", () => {
  const page = shown(table({ chosenAs: "requests" }));
  expect(page.texts("thead button")).toEqual(["Name", "# Requests"]);
  doing(() => page.one(".dropdown > button").click());
  const boxes = page.all<HTMLInputElement>(".popover input");
  expect(boxes.map((box) => box.checked)).toEqual([true, false]);
  doing(() => boxes[1]?.click());
  doing(() => boxes[0]?.click());
  expect(page.texts("thead button")).toEqual(["Name", "Twice"]);
  expect(shown(table({ chosenAs: "requests" })).texts("thead button")).toEqual(["Name", "Twice"]);
  expect(shown(table({ chosenAs: "other" })).texts("thead button")).toEqual(["Name", "# Requests"]);
});

test("only some of thousands of rows are in the page, with their index for screen readers", () => {
  const page = shown(table({ rows: many(5000) }));
  expect(page.all("tbody tr[data-key]").length).toBeLessThan(100);
  expect(page.one("table").getAttribute("aria-rowcount")).toBe("5001");
  expect(page.one("tbody tr[data-key]").getAttribute("aria-rowindex")).toBe("2");
});

test("scrolling adds the other rows to the page", () => {
  const page = shown(table({ rows: many(5000) }));
  const region = page.one(".region");
  doing(() => {
    region.scrollTop = 3000 * 33;
    region.dispatchEvent(new Event("scroll"));
  });
  const names = page.texts("tbody td:first-child");
  expect(names).toContain("/items/3000");
  expect(names).not.toContain("/items/0");
});

test("all rows are in the page in print", () => {
  const page = shown(table({ rows: many(500) }));
  doing(() => (printing.value = true));
  expect(page.all("tbody tr[data-key]")).toHaveLength(500);
  doing(() => (printing.value = false));
  expect(page.all("tbody tr[data-key]").length).toBeLessThan(100);
});

test("a search also finds rows that are not in the page", () => {
  const page = shown(table({ rows: many(5000), hasFilter: true }));
  typed(page.one("input[type=search]"), "/items/4999");
  expect(page.texts("tbody td:first-child")).toEqual(["/items/4999"]);
  expect(page.one("output").textContent).toBe("1 of 5\u202f000 rows");
});

test("markup from a target is shown as text", () => {
  const page = shown(table({ rows: [{ name: "<img src=x onerror=alert(1)>", count: 1 }] }));
  expect(page.all("img")).toEqual([]);
  expect(page.texts("tbody td:first-child")).toEqual(["<img src=x onerror=alert(1)>"]);
});
