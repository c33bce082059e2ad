import { expect, test } from "vitest";
import { Heights } from "../../../src/blocks/table/heights";

test("rows that were never seen are taken to be as high as the first that was", () => {
  const heights = new Heights(33);
  expect(heights.of("a")).toBe(33);
  expect(heights.learn("a", 40)).toBe(true);
  expect(heights.of("z")).toBe(40);
});

test("a row that differs is remembered", () => {
  const heights = new Heights(33);
  heights.learn("a", 40);
  expect(heights.learn("b", 120)).toBe(true);
  expect(heights.learn("b", 120)).toBe(false);
  expect([heights.of("a"), heights.of("b"), heights.of("c")]).toEqual([40, 120, 40]);
});

test("what is not laid out teaches nothing", () => {
  const heights = new Heights(33);
  expect(heights.learn("a", 0)).toBe(false);
  expect(heights.of("a")).toBe(33);
});

test("a row that closes again is as high as it was", () => {
  const heights = new Heights(33);
  heights.learn("a", 33);
  heights.learn("b", 120);
  expect(heights.learn("b", 33)).toBe(true);
  expect(heights.of("b")).toBe(33);
});
