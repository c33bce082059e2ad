import { describe, expect, it } from "vitest";
import type { EndpointRow, Test } from "../../../src/contract";
import { figuresOf } from "../../../src/live/watch/figures";
import { rowOf, testOf } from "../examples";

function shown(test: Partial<Test>, total: Partial<EndpointRow> | null) {
  const figures = figuresOf(testOf(test), total && rowOf(total));
  return Object.fromEntries(figures.map((each) => [each.label, each]));
}

describe("the numbers of the first screen", () => {
  it("are those of the last seconds while the run goes on, beside those of all of it", () => {
    const figures = shown({}, {});
    expect(figures["Requests/s"]).toMatchObject({ value: "12.3", more: "100 in all" });
    expect(figures["p50 now"]).toMatchObject({ value: "0.412", unit: "ms", more: "0.400 ms over the whole run" });
    expect(figures["p99 now"]?.value).toBe("21.5");
  });

  it("are those of the whole run once it is over", () => {
    const figures = shown({ status: "finished", users: 0, wanted: null }, {});
    expect(figures.Requests?.value).toBe("100");
    expect(figures.Users).toBeUndefined();
    expect(figures["Requests/s"]?.value).toBe("10.0");
    expect(figures.p50).toEqual({ label: "p50", value: "0.400", unit: "ms" });
    expect(figures["p99 now"]).toBeUndefined();
  });

  it("are dashes before anything was measured, never zeros", () => {
    const figures = shown({ status: "preparing" }, null);
    expect(["Requests/s", "Failures", "p50", "p99"].map((each) => figures[each]?.value)).toEqual(["–", "–", "–", "–"]);
  });

  it("do not make a bad thing of no failures", () => {
    expect(shown({}, { failures: 0 }).Failures).toMatchObject({ value: "0 %", more: "none", isBad: false });
    expect(shown({}, { failures: 3, requests: 1000, current_failures_per_s: 0.3 }).Failures).toMatchObject({
      value: "0.30 %",
      more: "3 in all, 0.30/s now",
      isBad: true,
    });
  });

  it("say of a time that it may have been longer", () => {
    expect(shown({}, { at_least: ["current_p99"], current_p99: 10_000 })["p99 now"]?.value).toBe("≥10\u202f000");
  });

  it("say of a percentile that it is one of few requests", () => {
    const now = shown({}, { few: ["current_p99", "p99"] });
    expect([now["p50 now"]?.more, now["p99 now"]?.more]).toEqual([
      "0.400 ms over the whole run",
      "of few requests, 20.0 ms over the whole run",
    ]);
    const whole = { status: "finished", users: 0, wanted: null } as const;
    expect(shown(whole, { few: ["p99"] }).p99?.more).toBe("of few requests");
    expect(shown(whole, { few: ["p99"], p99: null }).p99?.more).toBeUndefined();
  });

  it("say how many users are still to come", () => {
    expect(shown({ users: 12, wanted: 50 }, {}).Users).toEqual({ label: "Users", value: "12", more: "of 50" });
    expect(shown({ users: 50, wanted: 50 }, {}).Users).toEqual({ label: "Users", value: "50" });
  });
});
