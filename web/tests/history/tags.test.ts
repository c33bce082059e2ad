import { describe, expect, it } from "vitest";
import { changesOf, tagsOf, textOf } from "../../src/history/tags";

describe("tags", () => {
  it("stand between commas, and may have spaces in them", () => {
    expect(tagsOf("release, v1.2,slow  disk ")).toEqual(["release", "v1.2", "slow disk"]);
    expect(tagsOf(" , ")).toEqual([]);
  });

  it("are kept once, in the order in which they were typed", () => {
    expect(tagsOf("b, a, b")).toEqual(["b", "a"]);
  });

  it("are the same after they were shown in a field and read back", () => {
    expect(tagsOf(textOf(["release", "slow disk"]))).toEqual(["release", "slow disk"]);
  });
});

describe("an edited label", () => {
  const before = { tags: ["a"], note: "slow disk" };

  it("sends nothing when nothing has changed", () => {
    expect(changesOf(before, { tags: ["a"], note: "slow disk" })).toBeNull();
  });

  it("sends what has changed and leaves the rest alone", () => {
    expect(changesOf(before, { tags: ["a", "b"], note: "slow disk" })).toEqual({ tags: ["a", "b"], note: null });
    expect(changesOf(before, { tags: ["a"], note: "" })).toEqual({ tags: null, note: "" });
    expect(changesOf(before, { tags: [], note: "slow disk" })).toEqual({ tags: [], note: null });
  });
});
