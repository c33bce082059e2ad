import { describe, expect, it } from "vitest";
import type { LiveUpdate } from "../../src/contract";
import { NOTHING, after, keyOf, logAfter, type Seen } from "../../src/live/moments";
import { momentOf, rowOf } from "./examples";

const line = (at: number, text = "said") => ({ at, level: "INFO", text });

function seenAfter(...moments: Partial<LiveUpdate>[]): Seen {
  const seen = moments.reduce<Seen | null>((before, each) => before && after(before, momentOf(each)), NOTHING);
  if (!seen) throw new Error("there was a gap");
  return seen;
}

describe("the state after a live update", () => {
  it("starts with a whole update", () => {
    expect(after(NOTHING, momentOf({ sequence: 7, is_whole: false }))).toBeNull();
    expect(after(NOTHING, momentOf({ sequence: 7, is_whole: true }))?.sequence).toBe(7);
  });

  it("accepts only the next update", () => {
    const seen = seenAfter({ sequence: 7, is_whole: true });
    expect(after(seen, momentOf({ sequence: 8 }))?.sequence).toBe(8);
    expect(after(seen, momentOf({ sequence: 9 }))).toBeNull();
    expect(after(seen, momentOf({ sequence: 7 }))).toBeNull();
  });

  it("accepts a whole update with any sequence: the process may be a new one", () => {
    const seen = seenAfter({ sequence: 700, is_whole: true, rows: [rowOf({ name: "/old" })] });
    const next = after(seen, momentOf({ sequence: 3, is_whole: true, rows: [rowOf({ name: "/new" })] }));
    expect([...(next?.rows.values() ?? [])].map((each) => each.name)).toEqual(["/new"]);
  });

  it("keeps unchanged rows in their places", () => {
    const seen = seenAfter({ is_whole: true, rows: [rowOf({ name: "/a" }), rowOf({ name: "/b" })] });
    const next = after(seen, momentOf({ sequence: 2, rows: [rowOf({ name: "/a", requests: 101 })] }));
    expect([...(next?.rows.values() ?? [])].map((each) => [each.name, each.requests])).toEqual([
      ["/a", 101],
      ["/b", 100],
    ]);
    expect(seen.rows.get(keyOf({ method: "GET", name: "/a" }))?.requests).toBe(100);
  });

  it("keeps the same map when no row has changed, so that nothing renders", () => {
    const seen = seenAfter({ is_whole: true, rows: [rowOf()] });
    expect(after(seen, momentOf({ sequence: 2 }))?.rows).toBe(seen.rows);
  });

  it("distinguishes endpoints whose joined method and name are equal", () => {
    expect(keyOf({ method: "GET", name: "a b" })).not.toBe(keyOf({ method: "GET a", name: "b" }));
  });
});

describe("the log", () => {
  it("contains a line once that was both fetched and streamed", () => {
    const fetched = [line(1), line(2, "x"), line(3)];
    expect(logAfter(fetched, [line(2, "x"), line(3), line(4)]).map((each) => each.at)).toEqual([1, 2, 3, 4]);
  });

  it("is in order when fetched lines arrive after streamed ones", () => {
    expect(logAfter([line(5)], [line(1), line(5)]).map((each) => each.at)).toEqual([1, 5]);
  });

  it("drops its oldest lines", () => {
    const many = Array.from({ length: 1500 }, (_, place) => line(place));
    const more = Array.from({ length: 1500 }, (_, place) => line(1500 + place));
    const log = logAfter(many, more);
    expect([log.length, log.at(-1)?.at]).toEqual([2000, 2999]);
  });
});
