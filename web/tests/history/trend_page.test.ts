import { expect, test } from "vitest";
import type { ChartSpec } from "../../src/contract";
import { notesOf } from "../../src/history/trend_page";

test("a note next to the chart is not repeated", () => {
  const chart = { note: "There is 1 run; at least 10 are needed. It is shown." } as ChartSpec;
  const notes = ["There is 1 run; at least 10 are needed.", "Not all runs had the same machine."];
  expect(notesOf({ notes, chart })).toEqual(["Not all runs had the same machine."]);
  expect(notesOf({ notes, chart: null })).toEqual(notes);
});
