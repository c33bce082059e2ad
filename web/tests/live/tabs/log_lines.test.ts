import { describe, expect, it } from "vitest";
import { chosen } from "../../../src/live/tabs/log_lines";

const LOG = [
  { at: 1, level: "DEBUG", text: "small talk" },
  { at: 2, level: "INFO", text: "All users spawned" },
  { at: 3, level: "WARNING", text: "CPU is high" },
  { at: 4, level: "CRITICAL", text: "Users are gone" },
  { at: 5, level: "", text: "from somewhere" },
];

describe("the log", () => {
  it("is the same list when nothing is filtered", () => {
    expect(chosen(LOG, "DEBUG", " ")).toBe(LOG);
  });

  it("contains a level and more severe ones", () => {
    expect(chosen(LOG, "WARNING", "").map((each) => each.at)).toEqual([3, 4]);
    expect(chosen(LOG, "INFO", "").map((each) => each.at)).toEqual([2, 3, 4, 5]);
  });

  it("contains lines with every word, in any case and order", () => {
    expect(chosen(LOG, "DEBUG", "spawned USERS").map((each) => each.at)).toEqual([2]);
  });
});
