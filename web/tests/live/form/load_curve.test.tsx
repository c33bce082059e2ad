import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LoadCurve as Curve } from "../../../src/contract";
import { LoadCurve, lineOf } from "../../../src/live/form/load_curve";
import { formOf } from "../examples";

let root: HTMLElement;

beforeEach(() => {
  vi.useFakeTimers();
  root = document.createElement("div");
});
afterEach(() => {
  render(null, root);
  vi.useRealTimers();
});

async function shown(curveOf: () => Promise<Curve>): Promise<string> {
  await act(() => render(<LoadCurve request={formOf().request} curveOf={curveOf} />, root));
  await act(async () => {
    await vi.runAllTimersAsync();
  });
  return root.textContent;
}

it("says how much load there is at most, and for how long", async () => {
  const ramp: Curve = { unit: "users", seconds: 90, is_endless: false, levels: [0, 10, 20] };
  expect(await shown(() => Promise.resolve(ramp))).toBe("At most 20 users, for 1 min 30 s");
});

it("draws nothing for a form that cannot be read, or a load that the locustfile decides", async () => {
  expect(await shown(() => Promise.reject(new Error("no")))).toBe("");
  expect(await shown(() => Promise.resolve({ unit: "users", seconds: 10, is_endless: true, levels: [] }))).toBe("");
});

it("has the peak just below the top and no load at the bottom", () => {
  expect(lineOf([0, 10], 10)).toBe("L0,56 L400,2");
  expect(lineOf([0, 0], 0)).toBe("L0,56 L400,56");
});
