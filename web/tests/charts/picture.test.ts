import { afterEach, expect, test } from "vitest";
import { type Picture, draw } from "../../src/charts/picture";

const spec = {
  $schema: "https://vega.github.io/schema/vega-lite/v6.json",
  height: 100,
  layer: [
    {
      data: { name: "points" },
      mark: { type: "line" },
      encoding: {
        x: { field: "second", type: "quantitative", scale: { domain: [0, 10] } },
        y: { field: "value", type: "quantitative", scale: { domain: [0, 10] } },
        color: { field: "of", type: "nominal", scale: { domain: ["p50", "p99"] } },
      },
    },
    {
      data: { name: "warmup" },
      mark: { type: "rect" },
      encoding: { x: { field: "from", type: "quantitative" }, x2: { field: "to" } },
    },
  ],
  datasets: {
    points: [
      { second: 0, value: 1, of: "p50" },
      { second: 1, value: 2, of: "p50" },
    ],
    warmup: [] as object[],
  },
};
const config = { line: { strokeWidth: 3 }, range: { category: ["var(--c1)", "var(--c2)"] } };

let picture: Picture | null = null;
const into = document.createElement("div");

afterEach(() => {
  picture?.end();
  picture = null;
  into.replaceChildren();
});

async function drawn(of: Record<string, unknown> = spec) {
  picture = await draw(into, of, config, { width: 300 });
  return picture;
}

const lines = () => [...into.querySelectorAll(".mark-line path")].map((each) => each.getAttribute("d") ?? "");
const corners = () => lines().map((path) => path.split(/[ML]/).length - 1);

test("a specification becomes a picture, with the page's variables as colours", async () => {
  await drawn();
  expect(corners()).toEqual([2]);
  expect(into.querySelector(".mark-line path")?.getAttribute("stroke")).toBe("var(--c1)");
  expect(into.querySelector("svg")?.getAttribute("aria-hidden")).toBe("true");
});

test("rows are appended to a drawn chart", async () => {
  const { append } = await drawn();
  await append({
    points: [
      { second: 2, value: 3, of: "p50" },
      { second: 2, value: 9, of: "p99" },
    ],
  });
  await append({ points: [{ second: 3, value: 9, of: "p99" }] });
  expect(corners()).toEqual([3, 2]);
});

test("an empty data set accepts rows, and an unknown one is ignored", async () => {
  const { append } = await drawn();
  expect(into.querySelectorAll(".mark-rect path")).toHaveLength(0);
  await append({ warmup: [{ from: 0, to: 2 }], unknown: [{ a: 1 }] });
  expect(into.querySelectorAll(".mark-rect path")).toHaveLength(1);
});

test("the rows of the specification stay unchanged", async () => {
  const before = structuredClone(spec);
  const { append } = await drawn();
  await append({ points: [{ second: 5, value: 5, of: "p50" }] });
  expect(spec).toEqual(before);
  expect(Object.getOwnPropertySymbols(spec.datasets.points[0] ?? {})).toEqual([]);
});

test("a wider page makes the plot wider and keeps the appended rows", async () => {
  const { append, widen } = await drawn();
  await append({ points: [{ second: 10, value: 5, of: "p50" }] });
  const end = () => Number(/([\d.]+),[\d.]+$/.exec(lines()[0] ?? "")?.[1]);
  expect(end()).toBeCloseTo(300);
  await widen(600);
  expect(end()).toBeCloseTo(600);
});

test("nothing is fetched, even if a specification names a URL", async () => {
  const layer = { data: { url: "http://127.0.0.1:9/rows.json" }, mark: "point" };
  await drawn({ ...spec, layer: [...spec.layer, layer] });
  expect(corners()).toEqual([2]);
});

test("a wrong specification is rejected", async () => {
  await expect(draw(into, { mark: 5 }, config, { width: 300 })).rejects.toThrow();
});

const course = {
  ...spec,
  usermeta: { course: "live", wide: 1, unit: "ms" },
  params: [{ name: "until", value: 10 }],
  layer: spec.layer.map((each, place) => ({
    ...each,
    encoding: place
      ? each.encoding
      : { ...each.encoding, x: { ...each.encoding.x, scale: { domain: [{ expr: "0" }, { expr: "until" }] } } },
  })),
};

test("a chart over time has a legend only in a file", async () => {
  await drawn(course);
  expect(into.querySelector(".role-legend")).toBeNull();
  into.replaceChildren();
  picture = await draw(into, course, config, { width: 300, isWhole: true });
  expect(into.querySelector(".role-legend")).not.toBeNull();
});

test("the time axis follows its signal and converts a second to a position", async () => {
  const made = await drawn(course);
  const at = made.lineAt(5)?.left ?? NaN;
  expect(made.lineAt(0)?.left).toBe(52);
  expect(at).toBeCloseTo(52 + 150);
  expect(made.placeOf(at, 30)?.second).toBeCloseTo(5);
  expect(made.placeOf(10, 30)).toBeNull();
  await made.append({}, { until: 20, unknown: 1 });
  expect(made.lineAt(5)?.left).toBeCloseTo(52 + 75);
  expect(made.lineAt(21)).toBeNull();
});
