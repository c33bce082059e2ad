import { expect, test } from "vitest";
import { Blocks, printing } from "../../src/blocks";
import { doing, pressed, shown } from "../page";
import { paragraph } from "./sample";

const parts = ["upload", "read", "delete"].map((title) => ({ title, blocks: [paragraph(`all about ${title}`)] }));

function tabs() {
  const page = shown(<Blocks blocks={[{ type: "tabs", label: "Operations", parts }]} />);
  const seen = () =>
    page
      .all("[role=tabpanel]")
      .filter((panel) => !panel.hidden)
      .map((panel) => panel.querySelector("p")?.textContent);
  return { ...page, seen, tab: (place: number) => page.all("[role=tab]")[place] as HTMLElement };
}

test("the first tab is selected at first, and a click selects another", () => {
  const { seen, tab } = tabs();
  expect(seen()).toEqual(["all about upload"]);
  doing(() => tab(2).click());
  expect(seen()).toEqual(["all about delete"]);
  expect([0, 1, 2].map((place) => tab(place).getAttribute("aria-selected"))).toEqual(["false", "false", "true"]);
});

test.each([
  ["ArrowRight", 1],
  ["ArrowLeft", 2],
  ["End", 2],
  ["Home", 0],
])("%s chooses and focuses tab %i", (key, place) => {
  const { tab } = tabs();
  tab(0).focus();
  pressed(tab(0), key);
  expect(tab(place).getAttribute("aria-selected")).toBe("true");
  expect(document.activeElement).toBe(tab(place));
});

test("the Tab key stops at the selected tab only", () => {
  const { tab } = tabs();
  doing(() => tab(1).click());
  expect([0, 1, 2].map((place) => tab(place).tabIndex)).toEqual([-1, 0, -1]);
});

test("each tab names its panel, and each panel its tab", () => {
  const { all, tab } = tabs();
  const panels = all("[role=tabpanel]");
  expect(panels.map((panel) => panel.id)).toEqual([0, 1, 2].map((place) => tab(place).getAttribute("aria-controls")));
  expect(panels.map((panel) => panel.getAttribute("aria-labelledby"))).toEqual([0, 1, 2].map((place) => tab(place).id));
});

test("all tabs are open in print", () => {
  const { seen } = tabs();
  doing(() => (printing.value = true));
  expect(seen()).toHaveLength(3);
  doing(() => (printing.value = false));
  expect(seen()).toHaveLength(1);
});
