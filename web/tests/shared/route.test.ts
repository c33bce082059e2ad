import { describe, expect, it } from "vitest";
import { hashOf, placeOf } from "../../src/shared/route";

describe("the address", () => {
  it.each([
    ["", { page: "live" }],
    ["#/", { page: "live" }],
    ["#/?tab=failures", { page: "live" }],
    ["#/runs", { page: "runs" }],
    ["#/runs/", { page: "runs" }],
    ["#/runs/2026-a", { page: "run", id: "2026-a" }],
    ["#/compare?ref=A&ref=B%20C", { page: "compare", refs: ["A", "B C"] }],
    ["#/compare", { page: "compare", refs: [] }],
    ["#/experiments", { page: "experiments" }],
    ["#/experiments/old%20vs%20new%2Fladder", { page: "experiment", name: "old vs new/ladder" }],
    ["#/experiments/100%", { page: "experiment", name: "100%" }],
    ["#/trend", { page: "trend", series: "", metric: "p99" }],
    ["#/trend?series=k&metric=p50", { page: "trend", series: "k", metric: "p50" }],
    ["#/nowhere/at/all", { page: "missing", path: "/nowhere/at/all" }],
  ])("%s leads to %j", (hash, route) => {
    expect(placeOf(hash).route).toEqual(route);
  });

  it("separates the open tab from the page", () => {
    const place = placeOf("#/?tab=charts&endpoint=%5B%22GET%22%2C%22%2Fa%3Fb%22%5D");
    expect([place.path, place.params.get("endpoint")]).toEqual(["/", '["GET","/a?b"]']);
    expect(placeOf(hashOf(place.path, place.params))).toEqual(place);
  });
});
