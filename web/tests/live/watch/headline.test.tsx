import { expect, test, vi } from "vitest";
import type { RunHeadline, RunJudgement } from "../../../src/contract";
import { HeadlineCards } from "../../../src/live/watch/headline";
import { shown } from "../../page";

function judgement(title: string, figure: string): RunJudgement {
  return { tone: "good", title, text: `All about: ${title}.`, more: ["And more."], figure };
}

const headline: RunHeadline = {
  target: judgement("Healthy", "p99 20 ms"),
  generator: judgement("Honest", "lag p99 1 ms"),
  bottleneck: judgement("None: users mostly pause", "124 requests/s"),
};

test("each answer is a line with a number, and its reasons are folded", () => {
  const { texts, all } = shown(<HeadlineCards headline={headline} hasNumbers isFolded={false} />);
  expect(texts(".question")).toEqual([
    "Is the target healthy?",
    "Is this computer fast enough?",
    "What is the bottleneck?",
  ]);
  expect(texts(".judgement-title").map((each) => each.trim())[2]).toBe("None: users mostly pause");
  expect(texts(".figure")).toEqual(["p99 20 ms", "lag p99 1 ms", "124 requests/s"]);
  expect(all<HTMLDetailsElement>("details").map((each) => each.open)).toEqual([false, false, false]);
});

test("a folded headline shows only the titles", () => {
  const { one } = shown(<HeadlineCards headline={headline} hasNumbers isFolded />);
  expect(one<HTMLDetailsElement>("details").open).toBe(false);
  expect(one("summary").textContent).toBe(" Healthy Honest None: users mostly pause");
});

test("an unknown answer has no reasons to unfold", () => {
  const { texts, all } = shown(<HeadlineCards headline={null} hasNumbers={false} isFolded={false} />);
  expect(texts(".judgement-title").map((each) => each.trim())).toEqual(Array(3).fill("Nothing measured yet"));
  expect(all("details")).toEqual([]);
});

test("what is wrong with the target is open at once", async () => {
  const failing: RunHeadline = { ...headline, target: { ...headline.target, tone: "bad" } };
  const { all } = shown(<HeadlineCards headline={failing} hasNumbers isFolded={false} />);
  await vi.waitFor(() =>
    expect(all<HTMLDetailsElement>("details").map((each) => each.open)).toEqual([true, false, false]),
  );
});
