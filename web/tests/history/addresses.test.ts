import { describe, expect, it } from "vitest";
import { placeOf } from "../../src/shared/route";
import {
  compareAddress,
  experimentAddress,
  query,
  runAddress,
  taggedAddress,
  trendAddress,
} from "../../src/history/addresses";

const route = (hash: string) => placeOf(hash).route;
const AWKWARD = "my lab/100% & more?#é";

describe("an address of the history", () => {
  it("is routed to the page that it was made for", () => {
    expect(route(runAddress("20261122-0952-z312"))).toEqual({ page: "run", id: "20261122-0952-z312" });
    expect(route(experimentAddress("todos"))).toEqual({ page: "experiment", name: "todos" });
    expect(route(compareAddress(["a", "b", "c"]))).toEqual({ page: "compare", refs: ["a", "b", "c"] });
    expect(route(trendAddress("k", "p50"))).toEqual({ page: "trend", series: "k", metric: "p50" });
  });

  it("encodes any name without loss", () => {
    expect(route(experimentAddress(AWKWARD))).toEqual({ page: "experiment", name: AWKWARD });
    expect(route(compareAddress([AWKWARD, "b"]))).toEqual({ page: "compare", refs: [AWKWARD, "b"] });
    expect(route(trendAddress(AWKWARD, "p99"))).toEqual({ page: "trend", series: AWKWARD, metric: "p99" });
    expect(placeOf(taggedAddress("a+b")).params.get("tag")).toBe("a+b");
  });

  it("omits empty parameters", () => {
    expect(query([["search", ""]])).toBe("");
    expect(
      query([
        ["search", ""],
        ["tag", "x"],
      ]),
    ).toBe("?tag=x");
  });
});
