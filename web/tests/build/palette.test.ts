// @vitest-environment node
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { paletteOf } from "../../build/palette.ts";

const THEME = readFileSync(new URL("../../../python/plimsoll/report/charts/theme.json", import.meta.url), "utf-8");
const { colours } = JSON.parse(THEME) as { colours: Record<"light" | "dark", Record<string, string>> };

test("every colour of the charts is a CSS variable, light and dark", () => {
  const [light = "", bySystem = "", byWish = ""] = paletteOf(THEME).split("\n");
  for (const [name, value] of Object.entries(colours.light)) expect(light).toContain(`--${name}:${value};`);
  for (const dark of [bySystem, byWish]) {
    for (const [name, value] of Object.entries(colours.dark)) expect(dark).toContain(`--${name}:${value};`);
  }
});

test("light and dark define the same colour names", () => {
  expect(Object.keys(colours.dark).sort()).toEqual(Object.keys(colours.light).sort());
});

test("print always uses the light colours", () => {
  const dark = paletteOf(THEME).split("\n").slice(1);
  for (const rule of dark) expect(rule).toMatch(/^@media screen/);
});
