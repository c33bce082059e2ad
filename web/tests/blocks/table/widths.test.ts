import { expect, test } from "vitest";
import type { Column } from "../../../src/blocks/table/column";
import { Widths } from "../../../src/blocks/table/widths";

const name: Column<string> = { key: "name", title: "Name", isText: true, text: (row) => row };
const count: Column<string> = { key: "count", title: "# Requests", text: (row) => String(row.length) };

test("a column is as wide as its widest text or its title's longest word", () => {
  const widths = new Widths<string>();
  widths.learn([name, count], ["/a", "/longer/path"]);
  expect(widths.of(name)).toEqual({ least: 12, isOpen: false });
  expect(widths.of(count).least).toBe("Requests".length + 1);
});

test("a column never shrinks when other rows become visible", () => {
  const widths = new Widths<string>();
  widths.learn([name], ["/longer/path"]);
  widths.learn([name], ["/a"]);
  expect(widths.of(name).least).toBe(12);
});

test("long texts take the remaining space and wrap, numbers do not", () => {
  const widths = new Widths<string>();
  const number: Column<string> = { key: "n", title: "n", text: (row) => row };
  widths.learn([name, number], ["x".repeat(500)]);
  expect(widths.of(name)).toEqual({ least: 24, isOpen: true });
  expect(widths.of(number)).toEqual({ least: 500, isOpen: false });
});
