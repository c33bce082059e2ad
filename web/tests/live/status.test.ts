import { describe, expect, it } from "vitest";
import { isUnfinished, isMeasuring, announcementOf, wordOf } from "../../src/live/status";
import { testOf } from "./examples";

describe("the state of a run", () => {
  it("is announced when it changes, and not each second", () => {
    expect(announcementOf(null, testOf())).toBe("Running");
    expect(announcementOf(testOf(), testOf({ elapsed: 11 }))).toBe("");
    expect(announcementOf(testOf(), testOf({ status: "finished", message: "2 thresholds hold" }))).toBe(
      "Finished. 2 thresholds hold",
    );
    expect(announcementOf(testOf(), testOf({ number: 2 }))).toBe("Running");
  });

  it("is not shown as current when the connection is lost", () => {
    expect(wordOf("running").text).toBe("Running");
    expect(wordOf("running", "lost").text).toBe("Connection lost");
    expect(wordOf("stopping", "ended").text).toBe("Process ended");
    expect(wordOf("finished", "ended").text).toBe("Finished");
  });

  it("is unfinished before the measurement and until the run has stopped", () => {
    expect([isUnfinished(testOf({ status: "preparing" })), isMeasuring(testOf({ status: "preparing" }))]).toEqual([
      true,
      false,
    ]);
    expect([isUnfinished(testOf({ status: "stopping" })), isMeasuring(testOf({ status: "stopping" }))]).toEqual([
      true,
      true,
    ]);
    expect([isUnfinished(testOf({ status: "failed" })), isUnfinished(null)]).toEqual([false, false]);
  });
});
