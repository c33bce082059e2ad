import { expect, test } from "vitest";
import { windowOf } from "../../../src/blocks/table/window";

const HEIGHT = 30;
const even = () => HEIGHT;

test("a table that fits is drawn completely", () => {
  expect(windowOf(10, even, 0, 800)).toEqual({ from: 0, to: 10, above: 0, below: 0 });
});

test.each([0, 15, 3_000, 74_990, 149_200])("scrolled to %i px, what is in sight is drawn, and little more", (top) => {
  const room = 800;
  const { from, to } = windowOf(5000, even, top, room);
  expect(from * HEIGHT).toBeLessThanOrEqual(top);
  expect(to * HEIGHT).toBeGreaterThanOrEqual(Math.min(top + room, 5000 * HEIGHT));
  expect(to - from).toBeLessThan(70);
});

test.each([0, 1_234, 99_999])("the whole height is always there, at %i px too", (top) => {
  const { from, to, above, below } = windowOf(5000, even, top, 800);
  expect(above + (to - from) * HEIGHT + below).toBe(5000 * HEIGHT);
});

test("rows may have different heights", () => {
  const heightOf = (row: number) => (row % 2 ? 90 : 30);
  const { from, to, above, below } = windowOf(1000, heightOf, 6000, 600);
  expect(above).toBe(from * 60);
  expect(above).toBeLessThanOrEqual(6000);
  expect(above + (to - from) * 60 + below).toBe(60_000);
  expect(to).toBeGreaterThan(110);
});

test("a small scroll draws nothing new", () => {
  const at = (top: number) => {
    const { from, to } = windowOf(5000, even, top, 800);
    return `${from}-${to}`;
  };
  expect(new Set([3000, 3010, 3020, 3030].map(at)).size).toBeLessThanOrEqual(2);
});

test("a scroll offset beyond the end shows the last rows", () => {
  const { from, to, below } = windowOf(20, even, 100_000, 800);
  expect(to).toBe(20);
  expect(from).toBeLessThan(20);
  expect(below).toBe(0);
});

test("a table without rows has no height", () => {
  expect(windowOf(0, even, 0, 800)).toEqual({ from: 0, to: 0, above: 0, below: 0 });
});
