import { describe, expect, it } from "vitest";
import { added, asFirst, distinct, moved, removed } from "../../src/history/refs";

describe("the refs of a comparison", () => {
  it("are listed once each, without empty ones", () => {
    expect(distinct(["a", "", "b", "a"])).toEqual(["a", "b"]);
    expect(added(["a", "b"], "a")).toEqual(["a", "b"]);
    expect(added(["a"], "b")).toEqual(["a", "b"]);
  });

  it("keep their order when one is removed", () => {
    expect(removed(["a", "b", "c"], "b")).toEqual(["a", "c"]);
  });

  it("begin with the one that the others are compared with", () => {
    expect(asFirst(["a", "b", "c"], "c")).toEqual(["c", "a", "b"]);
  });

  it("swap with a neighbour, and stay in place at the ends", () => {
    expect(moved(["a", "b", "c"], "b", -1)).toEqual(["b", "a", "c"]);
    expect(moved(["a", "b", "c"], "b", 1)).toEqual(["a", "c", "b"]);
    expect(moved(["a", "b"], "a", -1)).toEqual(["a", "b"]);
    expect(moved(["a", "b"], "b", 1)).toEqual(["a", "b"]);
    expect(moved(["a", "b"], "x", 1)).toEqual(["a", "b"]);
  });
});
