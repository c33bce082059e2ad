import { describe, expect, it } from "vitest";
import { asPercent, asProbability } from "../../src/history/trend_tables";

describe("a change of a trend", () => {
  it("has a sign", () => {
    expect(asPercent(0.556)).toBe("+56 %");
    expect(asPercent(-0.042)).toBe("−4.2 %");
    expect(asPercent(null)).toBe("–");
  });

  it("has a probability that is never shown as zero", () => {
    expect(asProbability(0.0004)).toBe("0.00040");
    expect(asProbability(5.8e-15)).toBe("<0.0001");
  });
});
