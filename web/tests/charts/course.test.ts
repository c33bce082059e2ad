import { expect, test } from "vitest";
import { cellAt, courseOf, editsAt, endOf, seriesOf, valuesAt } from "../../src/charts/course";
import type { ChartSpec } from "../../src/contract";

const config = { range: { times: ["var(--c1)", "var(--c4)"], heat2: ["var(--h3)", "var(--h6)"] } };

function of(spec: Record<string, unknown>, meta: Record<string, unknown> = {}): ChartSpec {
  const usermeta = { course: "live", wide: 2, unit: "ms", ...meta };
  return {
    name: "live-times",
    title: "Times",
    description: "",
    height: 200,
    note: "",
    base: "",
    spec: { usermeta, ...spec },
  };
}

const times = of({
  layer: [
    { encoding: {} },
    {
      encoding: {
        color: { scale: { domain: ["p50", "p99"], range: "times" }, legend: { values: ["p50", "p99"] } },
        strokeDash: {
          scale: {
            range: [
              [1, 0],
              [3, 5],
            ],
          },
        },
      },
    },
  ],
  datasets: {
    points: [
      { of: "p50", second: 4, value: 0.5 },
      { of: "p99", second: 4, value: 1234 },
      { of: "p50", second: 6, value: 12.34 },
      { of: "p99", second: 6, value: null },
    ],
    edits: [{ second: 7, text: "30 users" }],
  },
});

test("a chart without a course is not a chart over time", () => {
  expect(courseOf({ ...times, spec: {} })).toBeNull();
  expect(courseOf(times)).toEqual({ course: "live", wide: 2, unit: "ms" });
});

test("the legend lists the existing lines with their colours", () => {
  expect(seriesOf(times, config)).toEqual([
    { name: "p50", colour: "var(--c1)", kind: "line" },
    { name: "p99", colour: "var(--c4)", kind: "dashed" },
  ]);
});

test("the values of a second come from its column, with units", () => {
  const texts = (second: number, hidden: string[] = []) =>
    valuesAt(times, config, second, hidden).map(({ name, text }) => `${name} ${text}`);
  expect(texts(5)).toEqual(["p50 0.500 ms", "p99 1.23 s"]);
  expect(texts(5, ["p99"])).toEqual(["p50 0.500 ms"]);
  expect(texts(7)).toEqual(["p50 12.3 ms"]);
  expect(texts(8)).toEqual([]);
});

test("a load change is shown in the column where it was made", () => {
  expect([5, 6, 7, 8].map((second) => editsAt(times, second))).toEqual([[], ["30 users"], ["30 users"], []]);
});

test("the end is the end of the last column", () => {
  expect(endOf(times)).toBe(8);
  expect(endOf(of({}))).toBe(0);
});

test("a point of the heat map selects its cell", () => {
  const heat = of({ datasets: { cells: [{ s: 4, b: 40, n: 1234 }] } }, { unit: "" });
  expect(cellAt(heat, 5, 10.2)).toBe("1\u202f234 requests of 10.0 ms to 12.6 ms");
  expect(cellAt(heat, 5, 9.9)).toBe("");
  expect(cellAt(heat, 6, 10.2)).toBe("");
});
