import { expect, test } from "vitest";
import { noteOfFew, timeColumn } from "../../../src/live/tabs/time_column";
import { rowOf } from "../examples";

test("a percentile of few requests is marked, and a note explains the mark", () => {
  const [sound, few, none] = [rowOf(), rowOf({ few: ["p99"] }), rowOf({ few: ["p99"], p99: null })];
  const column = timeColumn("p99", "p99");
  expect(column.cell?.(sound)).toBe(column.text(sound));
  expect(column.cell?.(few)).toMatchObject({ props: { class: "few", children: column.text(few) } });
  expect(column.cell?.(none)).toBe("–");
  expect(noteOfFew([sound, few], ["p99"])).toContain("In grey");
  expect(noteOfFew([sound, few], ["p50"])).toBe("");
  expect(noteOfFew([sound, none], ["p99"])).toBe("");
});
