import { expect, test } from "vitest";
import type { Column } from "../../../src/blocks/table/column";
import { hasAll } from "../../../src/blocks/table/search";

const columns: Column<string[]>[] = [0, 1].map((place) => ({
  key: String(place),
  title: "",
  text: (row) => row[place] ?? "",
}));
const row = ["GET", "/todos/[id]"];

test.each(["", "  ", "get", "TODOS", "id get", "/todos/[id]"])("%j is in the row", (search) => {
  expect(hasAll(row, columns, search)).toBe(true);
});

test.each(["post", "get post", "GET/todos"])("%j is not: every word must be in one of its cells", (search) => {
  expect(hasAll(row, columns, search)).toBe(false);
});
