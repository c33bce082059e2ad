import { afterEach, expect, test } from "vitest";
import { plotWidth } from "../../src/charts/width";

afterEach(() => document.body.replaceChildren());

/** An element in a body of this width, within others by their classes, all of them hidden. */
function hidden(width: number, ...classes: string[]): HTMLElement {
  let at: HTMLElement = document.body;
  Object.defineProperty(at, "clientWidth", { value: width, configurable: true });
  for (const name of [...classes, "plot"]) {
    const inner = document.createElement("div");
    inner.className = name;
    at = at.appendChild(inner);
  }
  return at;
}

function visible(width: number): HTMLElement {
  const element = document.createElement("div");
  Object.defineProperty(element, "clientWidth", { value: width });
  return element;
}

test("a plot takes the room there is but for the labels of its axis", () => {
  expect(plotWidth(visible(700), {})).toBe(634);
});

test("a specification knows how much it needs beside its plot", () => {
  expect(plotWidth(visible(700), { usermeta: { beside: 12 } })).toBe(688);
});

test("a plot is never too narrow to be read, nor wider than a page", () => {
  expect(plotWidth(visible(100), {})).toBe(58 + 62);
  expect(plotWidth(visible(5000), {})).toBe(1118);
});

test("what is hidden is drawn for the room that it will have", () => {
  expect(plotWidth(hidden(800, "panel"), {})).toBe(734);
});

test("of a hidden pair each will have a half, and one that is alone the whole", () => {
  expect(plotWidth(hidden(1100, "pair", "figure"), {})).toBe(530 - 66);
  expect(plotWidth(hidden(1100, "pair alone", "figure"), {})).toBe(1100 - 66);
});
