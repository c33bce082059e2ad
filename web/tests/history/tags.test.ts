import { describe, expect, it } from "vitest";
import { changesOf, tagsOf, textOf } from "../../src/history/tags";

describe("tags", () => {
  it("are separated by commas and may contain spaces", () => {
    expect(tagsOf("release, v1.2,slow  disk ")).toEqual(["release", "v1.2", "slow disk"]);
    expect(tagsOf(" , ")).toEqual([]);
  });

  it("are kept once, in typing order", () => {
    expect(tagsOf("b, a, b")).toEqual(["b", "a"]);
  });

  it("survive formatting and parsing", () => {
    expect(tagsOf(textOf(["release", "slow disk"]))).toEqual(["release", "slow disk"]);
  });
});

describe("an edited label", () => {
  const before = { tags: ["a"], note: "slow disk" };

  it("sends nothing when nothing has changed", () => {
    expect(changesOf(before, { tags: ["a"], note: "slow disk" })).toBeNull();
  });

  it("sends only the changes", () => {
    expect(changesOf(before, { tags: ["a", "b"], note: "slow disk" })).toEqual({ tags: ["a", "b"], note: null });
    expect(changesOf(before, { tags: ["a"], note: "" })).toEqual({ tags: null, note: "" });
    expect(changesOf(before, { tags: [], note: "slow disk" })).toEqual({ tags: [], note: null });
  });
});
