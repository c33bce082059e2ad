import { describe, expect, it } from "vitest";
import type { EndpointRow, Test } from "../../../src/contract";
import { figuresOf } from "../../../src/live/watch/figures";
import { rowOf, testOf } from "../examples";

function shown(test: Partial<Test>, total: Partial<EndpointRow> | null) {
  const figures = figuresOf(testOf(test), total && rowOf(total));
  return Object.fromEntries(figures.map((each) => [each.label, each]));
}

describe("the numbers of the first screen", () => {
  it("are those of the last seconds during the run, next to the totals", () => {
    const figures = shown({}, {});
    expect(figures["Requests/s"]).toMatchObject({ value: "12.3", more: "100 in all" });
    expect(figures["p50 now"]).toMatchObject({ value: "0.412", unit: "ms", more: "0.400 ms over the whole run" });
    expect(figures["p99 now"]?.value).toBe("21.5");
  });

  it("are those of the whole run after its end", () => {
    const figures = shown({ status: "finished", users: 0, wanted: null }, {});
    expect(figures.Requests?.value).toBe("100");
    expect(figures.Users).toBeUndefined();
    expect(figures["Requests/s"]?.value).toBe("10.0");
    expect(figures.p50).toEqual({ label: "p50", value: "0.400", unit: "ms" });
    expect(figures["p99 now"]).toBeUndefined();
  });

  it("are dashes before the first measurement, never zeros", () => {
    const figures = shown({ status: "preparing" }, null);
    expect(["Requests/s", "Failures", "p50", "p99"].map((each) => figures[each]?.value)).toEqual(["–", "–", "–", "–"]);
  });

  it("do not show zero failures as bad", () => {
    expect(shown({}, { failures: 0 }).Failures).toMatchObject({ value: "0 %", more: "none", isBad: false });
    expect(shown({}, { failures: 3, requests: 1000, current_failures_per_s: 0.3 }).Failures).toMatchObject({
      value: "0.30 %",
      more: "3 in all, 0.30/s now",
      isBad: true,
    });
  });

  it("mark a time that may have been longer", () => {
    expect(shown({}, { at_least: ["current_p99"], current_p99: 10_000 })["p99 now"]?.value).toBe("≥10\u202f000");
  });

  it("mark a percentile of few requests", () => {
    const now = shown({}, { few: ["current_p99", "p99"] });
    expect([now["p50 now"]?.more, now["p99 now"]?.more]).toEqual([
      "0.400 ms over the whole run",
      "of few requests, 20.0 ms over the whole run",
    ]);
    const whole = { status: "finished", users: 0, wanted: null } as const;
    expect(shown(whole, { few: ["p99"] }).p99?.more).toBe("of few requests");
    expect(shown(whole, { few: ["p99"], p99: null }).p99?.more).toBeUndefined();
  });

  it("show how many users are still to start", () => {
    expect(shown({ users: 12, wanted: 50 }, {}).Users).toEqual({ label: "Users", value: "12", more: "of 50" });
    expect(shown({ users: 50, wanted: 50 }, {}).Users).toEqual({ label: "Users", value: "50" });
  });
});
