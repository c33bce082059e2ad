import { expect, test } from "vitest";
import { orderIn, orderOf } from "../../../src/blocks/table/column";

test.each([
  ["1 200.5", 1200.5],
  ["1\u202f200", 1200],
  ["≥30\u00a0000", 30000],
  ["×1.05 [0.98, 1.13]", 1.05],
  ["−3 %", -3],
  ["<0.01%", 0.01],
  [">99.99 %", 99.99],
  ["+7.4 %", 7.4],
  ["200 ms", 200],
])("%s is sorted by %f", (text, order) => {
  expect(orderOf(text)).toBe(order);
});

test("a text that does not begin with a number sorts as text", () => {
  expect(orderOf("GET /todos/1")).toBe("GET /todos/1");
});

test.each(["", "–"])("%j is not known", (text) => {
  expect(orderOf(text)).toBeNull();
});

test("a column's own order replaces the order of its text", () => {
  const column = { key: "a", title: "A", text: () => "2 min", order: () => 120 };
  expect(orderIn(column, {})).toBe(120);
});
