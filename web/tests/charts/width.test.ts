import { afterEach, expect, test } from "vitest";
import { plotWidth } from "../../src/charts/width";

afterEach(() => document.body.replaceChildren());

/** A hidden element in a body of this width, inside elements with these classes. */
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

test("a plot takes the available width minus its axis labels", () => {
  expect(plotWidth(visible(700), {})).toBe(634);
});

test("a specification can set the space beside its plot", () => {
  expect(plotWidth(visible(700), { usermeta: { beside: 12 } })).toBe(688);
});

test("a plot has a minimum and a maximum width", () => {
  expect(plotWidth(visible(100), {})).toBe(58 + 62);
  expect(plotWidth(visible(5000), {})).toBe(1118);
});

test("a hidden chart is drawn for its later width", () => {
  expect(plotWidth(hidden(800, "panel"), {})).toBe(734);
});

test("hidden charts of a pair get half the width each, a single one the whole", () => {
  expect(plotWidth(hidden(1100, "pair", "figure"), {})).toBe(530 - 66);
  expect(plotWidth(hidden(1100, "pair alone", "figure"), {})).toBe(1100 - 66);
});
