import { expect, test } from "vitest";
import { same } from "../../src/shared/same";

test.each([
  [1, 1],
  [null, null],
  [{ a: [1, { b: "x" }] }, { a: [1, { b: "x" }] }],
  [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ],
  [[], []],
])("%j and %j are the same", (a, b) => {
  expect(same(a, b)).toBe(true);
});

test.each([
  [1, "1"],
  [null, {}],
  [[], {}],
  [[1, 2], [1]],
  [{ a: undefined }, { b: undefined }],
  [{ a: { b: 1 } }, { a: { b: 2 } }],
])("%j and %j are not", (a, b) => {
  expect(same(a, b)).toBe(false);
});
