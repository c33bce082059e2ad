import { describe, expect, it } from "vitest";
import type { TrendPoint } from "../../src/contract";
import { neighboursOf } from "../../src/history/neighbours";

const points = ["a", "b", "c"].map((run, place): TrendPoint => {
  return { run, started: place, commit: "", value: 1, is_valid: true, name: "" };
});

const of = (id: string, started: number) => neighboursOf(points, { id, started }).map((point) => point?.run);

describe("the runs beside a run of a series", () => {
  it("are the ones before and after it in time", () => {
    expect(of("b", 1)).toEqual(["a", "c"]);
  });

  it("are missing at the ends", () => {
    expect(of("a", 0)).toEqual([undefined, "b"]);
    expect(of("c", 2)).toEqual(["b", undefined]);
  });

  it("are known for a running run without a value", () => {
    expect(of("new", 9)).toEqual(["c", undefined]);
  });

  it("are null for the only run", () => {
    expect(neighboursOf([], { id: "a", started: 0 })).toEqual([null, null]);
  });
});
