import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunItem, Summary } from "../../src/contract";
import { RunRows } from "../../src/history/run_rows";

const SUMMARY: Summary = {
  requests: 41204,
  failures: 0,
  unanswered: 0,
  rate: 686.7,
  p50: 4.21,
  p95: 9.5,
  p99: 10_000,
  max: 10_000,
  duration: 60,
  is_valid: true,
  reasons: [],
  at_least: ["p99"],
  shares: {},
};

function run(more: Partial<RunItem> = {}): RunItem {
  return {
    id: "20261122-0952-z312",
    name: "todos",
    title: "todos · 50 users · http://127.0.0.1:8000",
    status: "finished",
    started: 1_795_341_000,
    ended: 1_795_341_060,
    host: "http://127.0.0.1:8000",
    source: "locustfile.py",
    load: "50 users",
    experiment: "",
    commit: "",
    tags: [],
    note: "",
    summary: SUMMARY,
    series: "",
    ...more,
  };
}

let root: HTMLElement;
beforeEach(() => (root = document.createElement("div")));
afterEach(() => render(null, root));

function shown(...runs: RunItem[]): void {
  render(<RunRows runs={runs} chosen={[]} choose={() => undefined} save={() => Promise.resolve()} />, root);
}

const figures = (): string[] => [...root.querySelectorAll("dd")].map((each) => each.innerHTML);

describe("a run in the list", () => {
  it("shows its numbers and marks lower bounds", () => {
    shown(run());
    expect(figures()).toEqual(["41\u202f204", "687", "0", "0", "4.21", "≥10\u202f000"]);
  });

  it("marks a time with a large share of the generator, and shows the share", () => {
    shown(run({ summary: { ...SUMMARY, shares: { p99: 8.7 } } }));
    expect(figures()[5]).toBe("≥10\u202f000*");
    expect([...root.querySelectorAll("dd")][5]?.title).toBe("up to 8.70 ms of it is the generator's");
  });

  it("shows the numbers of an invalid run and the reason", () => {
    shown(run({ summary: { ...SUMMARY, is_valid: false, reasons: ["the generator sent late", "and read late"] } }));
    expect(figures()).toEqual(["41\u202f204", "687", "0", "0", "4.21", "≥10\u202f000"]);
    expect(root.querySelector("summary")?.textContent).toBe("Invalid: the generator sent late (and 1 more)");
    expect([...root.querySelectorAll("details li")].map((each) => each.textContent)).toEqual([
      "the generator sent late",
      "and read late",
    ]);
  });

  it("highlights failures, but not zero failures", () => {
    shown(run());
    expect(root.querySelector(".some")).toBeNull();
    shown(run({ summary: { ...SUMMARY, failures: 3 } }));
    expect(root.querySelector(".some")?.textContent).toBe("3");
  });

  it("has no numbers while it is running", () => {
    shown(run({ status: "running", ended: null, summary: null }));
    expect(figures()).toEqual(["–", "–", "–", "–", "–", "–"]);
    expect(root.textContent).toContain("running");
  });

  it("shows its id when it has no name", () => {
    shown(run({ name: "" }));
    expect(root.querySelector("a")?.textContent).toBe("20261122-0952-z312");
    expect(root.querySelector("a")?.getAttribute("href")).toBe("#/runs/20261122-0952-z312");
  });

  it("shows markup from a target or a person as text", () => {
    shown(run({ name: "<img src=x>", note: "<b>bold</b>", tags: ["<i>"] }));
    expect(root.querySelector("img, b, i")).toBeNull();
    expect(root.textContent).toContain("<b>bold</b>");
  });
});
