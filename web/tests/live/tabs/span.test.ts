import { expect, test } from "vitest";
import { spanOf } from "../../../src/live/tabs/span";
import { testOf } from "../examples";

test("without a known end the axis reaches until now", () => {
  const endless = testOf({ left: null });
  expect(spanOf(endless, 3, null)).toEqual({ from: 0, until: 10 });
  expect(spanOf(endless, 130, "all")).toEqual({ from: 0, until: 130 });
});

test("with a known end the axis stops there, and is at least half full", () => {
  for (let now = 1; now <= 600; now++) {
    const { until } = spanOf(testOf({ elapsed: now, left: 600 - now }), now, null);
    expect(until).toBeGreaterThanOrEqual(now);
    expect(until).toBeLessThanOrEqual(600);
    if (now > 9) expect(now / until).toBeGreaterThan(0.6);
  }
  expect(spanOf(testOf({ elapsed: 9, left: 3 }), 9, null)).toEqual({ from: 0, until: 12 });
});

test("a run that is over is shown to its last second", () => {
  expect(spanOf(testOf({ status: "finished", elapsed: 42.3, left: 0 }), 42, null)).toEqual({ from: 0, until: 42 });
});

test("the last minute or five minutes are shown when there are that many", () => {
  expect(spanOf(testOf({ left: null }), 50, "1m")).toEqual({ from: 0, until: 50 });
  expect(spanOf(testOf({ left: null }), 130, "1m")).toEqual({ from: 70, until: 130 });
  expect(spanOf(testOf({ left: null }), 1300, "5m")).toEqual({ from: 1000, until: 1300 });
});
