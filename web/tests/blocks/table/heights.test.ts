import { expect, test } from "vitest";
import { Heights } from "../../../src/blocks/table/heights";

test("an unseen row is assumed to be as high as the first seen row", () => {
  const heights = new Heights(33);
  expect(heights.of("a")).toBe(33);
  expect(heights.learn("a", 40)).toBe(true);
  expect(heights.of("z")).toBe(40);
});

test("a row with another height is remembered", () => {
  const heights = new Heights(33);
  heights.learn("a", 40);
  expect(heights.learn("b", 120)).toBe(true);
  expect(heights.learn("b", 120)).toBe(false);
  expect([heights.of("a"), heights.of("b"), heights.of("c")]).toEqual([40, 120, 40]);
});

test("a row without layout is ignored", () => {
  const heights = new Heights(33);
  expect(heights.learn("a", 0)).toBe(false);
  expect(heights.of("a")).toBe(33);
});

test("a row that closes has its old height again", () => {
  const heights = new Heights(33);
  heights.learn("a", 33);
  heights.learn("b", 120);
  expect(heights.learn("b", 33)).toBe(true);
  expect(heights.of("b")).toBe(33);
});
