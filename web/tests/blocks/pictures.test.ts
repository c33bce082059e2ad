import { expect, test } from "vitest";
import { picturesOf } from "../../src/blocks";
import { chart, document } from "./sample";

test("a highlighted chart has the data of its base chart", () => {
  const base = chart("times");
  const copy = chart("times-knee", { base: "times", spec: { mark: "line", datasets: { highlight: [{ x: 2 }] } } });
  const { charts } = picturesOf(document({ charts: [base, copy] }));
  expect(charts.get("times-knee")?.spec).toEqual({
    mark: "line",
    datasets: { points: [{ x: 1 }, { x: 2 }], highlight: [{ x: 2 }] },
  });
  expect(charts.get("times")).toBe(base);
});
