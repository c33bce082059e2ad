import { describe, expect, it } from "vitest";
import { keyOf } from "../../../src/live/moments";
import { matching, titleOf } from "../../../src/live/tabs/endpoint_choice";
import { needingAttention } from "../../../src/live/tabs/overview";
import { rowOf } from "../examples";

describe("the endpoints that need attention", () => {
  it("are the failing ones, then the busiest, up to a limit", () => {
    const rows = Array.from({ length: 2000 }, (_, place) => rowOf({ name: `/${place}`, requests: place }));
    const failing = rowOf({ name: "/bad", requests: 3, failures: 1 });
    const names = needingAttention([failing, ...rows]).map((each) => each.name);
    expect(names).toEqual(["/bad", "/1999", "/1998", "/1997", "/1996", "/1995"]);
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
