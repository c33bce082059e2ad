import { describe, expect, it } from "vitest";
import { STATE_ORDER, counted, inWords, stateOf } from "../../src/history/cell_states";

describe("the states of cells", () => {
  it("each have their own word and their own symbol", () => {
    expect(new Set(STATE_ORDER.map((state) => stateOf(state).shape)).size).toBe(STATE_ORDER.length);
    expect(new Set(STATE_ORDER.map((state) => stateOf(state).word)).size).toBe(STATE_ORDER.length);
  });

  it("are counted in a fixed order, without empty states", () => {
    expect(counted({ pending: 2, valid: 5, failed: 0 })).toEqual([
      ["valid", 5],
      ["pending", 2],
    ]);
    expect(inWords({ failed: 1, valid: 5 })).toBe("5 valid, 1 failed");
    expect(inWords({})).toBe("no cells");
  });

  it("show their own name if they are unknown", () => {
    expect(inWords({ asleep: 1, valid: 1 })).toBe("1 valid, 1 asleep");
  });
});
