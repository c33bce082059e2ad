import { describe, expect, it } from "vitest";
import { isGoing, isMeasuring, newsOf, wordOf } from "../../src/live/status";
import { testOf } from "./examples";

describe("the state of a run", () => {
  it("is told when it changes, and not each second", () => {
    expect(newsOf(null, testOf())).toBe("Running");
    expect(newsOf(testOf(), testOf({ elapsed: 11 }))).toBe("");
    expect(newsOf(testOf(), testOf({ status: "finished", message: "2 thresholds hold" }))).toBe(
      "Finished. 2 thresholds hold",
    );
    expect(newsOf(testOf(), testOf({ number: 2 }))).toBe("Running");
  });

  it("is not told as that of now when nobody is there to tell it", () => {
    expect(wordOf("running").text).toBe("Running");
    expect(wordOf("running", "lost").text).toBe("Connection lost");
    expect(wordOf("stopping", "ended").text).toBe("Process ended");
    expect(wordOf("finished", "ended").text).toBe("Finished");
  });

  it("goes on before anything is measured, and until it has stopped", () => {
    expect([isGoing(testOf({ status: "preparing" })), isMeasuring(testOf({ status: "preparing" }))]).toEqual([
      true,
      false,
    ]);
    expect([isGoing(testOf({ status: "stopping" })), isMeasuring(testOf({ status: "stopping" }))]).toEqual([
      true,
      true,
    ]);
    expect([isGoing(testOf({ status: "failed" })), isGoing(null)]).toEqual([false, false]);
  });
});
