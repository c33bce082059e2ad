import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { Figure, type ChartHandle } from "../../src/charts";
import type { ChartSpec } from "../../src/contract";
import { chart } from "../blocks/sample";
import { shown } from "../page";

/** Replaces the browser's IntersectionObserver. Tests set what is near. */
class Sight {
  static readonly all = new Set<Sight>();
  static isNear = true;

  constructor(private readonly onIntersection: (entries: { isIntersecting: boolean }[]) => void) {
    Sight.all.add(this);
  }

  static move(isNear: boolean): void {
    Sight.isNear = isNear;
    for (const each of Sight.all) each.observe();
  }

  observe(): void {
    queueMicrotask(() => this.onIntersection([{ isIntersecting: Sight.isNear }]));
  }

  disconnect(): void {
    Sight.all.delete(this);
  }
}

vi.stubGlobal("IntersectionObserver", Sight);
beforeEach(() => (Sight.isNear = true));
afterAll(() => vi.unstubAllGlobals());

const marks = (place: HTMLElement) => place.querySelectorAll(".mark-symbol path").length;

/** Waits until the chart has this many marks. */
const until = (place: HTMLElement, count: number) => vi.waitFor(() => expect(marks(place)).toBe(count), 20_000);

function figure(spec: ChartSpec, handle?: (handle: ChartHandle | null) => void) {
  return <Figure spec={spec} config={{}} handle={handle} />;
}

test("a chart is drawn with its title and note", async () => {
  const { place, one } = shown(figure(chart("a", { note: "Thinned." })));
  expect(one("figcaption").textContent).toBe("Title of a⤓Thinned.");
  await until(place, 2);
  await vi.waitFor(() => expect(document.documentElement.dataset.drawn).toBe("all"), 20_000);
});

test("rows are appended to the existing chart without redrawing it", async () => {
  const handles: (ChartHandle | null)[] = [];
  const { place } = shown(figure(chart("a"), (handle) => handles.push(handle)));
  await until(place, 2);
  const svg = place.querySelector("svg");
  expect(handles.filter(Boolean)).toHaveLength(1);
  handles.at(-1)?.append({ points: [{ x: 3 }] });
  handles.at(-1)?.append({ points: [{ x: 4 }, { x: 5 }] });
  await until(place, 5);
  expect(place.querySelector("svg")).toBe(svg);
});

test("rows of a chart outside the view wait until it scrolls into view", async () => {
  let handle: ChartHandle | null = null;
  const { place } = shown(figure(chart("a"), (given) => (handle = given)));
  await until(place, 2);
  Sight.move(false);
  await Promise.resolve();
  (handle as ChartHandle | null)?.append({ points: [{ x: 3 }] });
  (handle as ChartHandle | null)?.append({ points: [{ x: 4 }] });
  await new Promise(requestAnimationFrame);
  expect(marks(place)).toBe(2);
  Sight.move(true);
  await until(place, 4);
});

test("an equal specification is not redrawn; a different one replaces the chart", async () => {
  const handles: (ChartHandle | null)[] = [];
  const take = (handle: ChartHandle | null) => handles.push(handle);
  const { place, draw } = shown(figure(chart("a"), take));
  await until(place, 2);
  const svg = place.querySelector("svg");
  void draw(figure(chart("a"), take));
  expect(place.querySelector("svg")).toBe(svg);
  const other = { ...chart("a").spec, datasets: { points: [{ x: 1 }, { x: 2 }, { x: 3 }] } };
  void draw(figure(chart("a", { spec: other }), take));
  expect(place.querySelector("svg")).toBe(svg);
  expect(handles.at(-1)).toBeNull();
  await until(place, 3);
  expect(handles.at(-1)).not.toBeNull();
});

test("an error of the drawing is shown in place of the chart", async () => {
  const complaint = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { place } = shown(figure(chart("a", { spec: { mark: 5, datasets: {} } })));
  await vi.waitFor(() => expect(place.querySelector(".failed")?.textContent).toMatch(/could not be drawn: ./), 20_000);
  expect(complaint).toHaveBeenCalled();
  complaint.mockRestore();
});

test("a removed chart revokes its handle", async () => {
  const handles: (ChartHandle | null)[] = [];
  const { place, draw } = shown(figure(chart("a"), (handle) => handles.push(handle)));
  await until(place, 2);
  void draw(null);
  expect(handles.at(-1)).toBeNull();
});
