import { describe, expect, it } from "vitest";
import { keyOf } from "../../../src/live/moments";
import { matching, titleOf } from "../../../src/live/tabs/endpoint_choice";
import { byWaiting, mostNotable, waitingColumn, waitingOf } from "../../../src/live/tabs/waiting";
import { rowOf } from "../examples";

describe("the endpoints that need attention", () => {
  it("are those with the most waiting and the failing ones, in the order of every table", () => {
    const rows = Array.from({ length: 2000 }, (_, place) => rowOf({ name: `/${place}`, waited_s: place }));
    const failing = rowOf({ name: "/bad", failures: 1, waited_s: 0.5 });
    const found = mostNotable([failing, ...rows], 6).map((each) => each.name);
    expect(found).toEqual(["/1999", "/1998", "/1997", "/1996", "/1995", "/bad"]);
  });

  it("have their share of all waiting, and numbers in names count as numbers", () => {
    const rows = [
      rowOf({ name: "/item/10", waited_s: 1 }),
      rowOf({ name: "/item/9", waited_s: 1 }),
      rowOf({ name: "/search", waited_s: 398 }),
      rowOf({ name: "/feed", method: "first event", waited_s: 0 }),
    ];
    const column = waitingColumn(waitingOf(rows));
    const shown = byWaiting(rows).map((row) => `${row.name} ${column.text(row)}`);
    expect(shown).toEqual(["/search 100 %", "/item/9 <1 %", "/item/10 <1 %", "/feed –"]);
  });
});

describe("the list of endpoints", () => {
  const keys = [
    { method: "POST", name: "/api/b" },
    { method: "GET", name: "/api/a" },
    { method: "GET", name: "/health" },
  ].map(keyOf);

  it("is filtered by words of method and name", () => {
    expect(matching(keys, "get api").map(titleOf)).toEqual(["GET /api/a"]);
    expect(matching(keys, "").map(titleOf)).toEqual(["GET /api/a", "GET /health", "POST /api/b"]);
  });

  it("shows an unknown key from the address unchanged", () => {
    expect(titleOf("no key")).toBe("no key");
  });
});
