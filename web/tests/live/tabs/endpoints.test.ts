import { describe, expect, it } from "vitest";
import { keyOf } from "../../../src/live/moments";
import { matching, titleOf } from "../../../src/live/tabs/endpoint_choice";
import { worthALook } from "../../../src/live/tabs/overview";
import { rowOf } from "../examples";

describe("the endpoints worth a look", () => {
  it("are those that fail, then the busiest, and few", () => {
    const rows = Array.from({ length: 2000 }, (_, place) => rowOf({ name: `/${place}`, requests: place }));
    const failing = rowOf({ name: "/bad", requests: 3, failures: 1 });
    const names = worthALook([failing, ...rows]).map((each) => each.name);
    expect(names).toEqual(["/bad", "/1999", "/1998", "/1997", "/1996", "/1995"]);
  });
});

describe("the list of endpoints", () => {
  const keys = [
    { method: "POST", name: "/api/b" },
    { method: "GET", name: "/api/a" },
    { method: "GET", name: "/health" },
  ].map(keyOf);

  it("is narrowed by words of method and name", () => {
    expect(matching(keys, "get api").map(titleOf)).toEqual(["GET /api/a"]);
    expect(matching(keys, "").map(titleOf)).toEqual(["GET /api/a", "GET /health", "POST /api/b"]);
  });

  it("shows what somebody typed into the address as it stands", () => {
    expect(titleOf("no key")).toBe("no key");
  });
});
