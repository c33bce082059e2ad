import { expect, test } from "vitest";
import { type Block, Blocks } from "../../src/blocks";
import { doing, picked, shown } from "../page";
import { paragraph, row, table, tableBlock } from "./sample";

const page = (...blocks: Block[]) => shown(<Blocks blocks={blocks} />);

test("paragraphs have their tone", () => {
  const { texts } = page(paragraph("plain"), { type: "paragraph", text: "by the way", tone: "soft" });
  expect(texts("p")).toEqual(["plain", "by the way"]);
  expect(texts("p.soft")).toEqual(["by the way"]);
});

test("a preformatted text is shown unchanged and can be focused", () => {
  const { one } = page({ type: "preformatted", text: "a\n  b <i>" });
  expect(one("pre").textContent).toBe("a\n  b <i>");
  expect(one("pre").tabIndex).toBe(0);
});

test("an answer is its first sentence, then a list of the others, with names as code", () => {
  const { one, texts } = page({ type: "answer", sentences: ["`cached` is 34 % faster.", "`index` is not."] });
  expect(one(".answer > p").textContent).toBe("cached is 34 % faster.");
  expect(texts(".answer li")).toEqual(["index is not."]);
  expect(texts("code")).toEqual(["cached", "index"]);
});

test("facts are names with values", () => {
  const { one, texts } = page({ type: "facts", style: "status", facts: [{ name: "runs", value: "40, all valid" }] });
  expect(one("dl").className).toBe("status");
  expect([texts("dt"), texts("dd")]).toEqual([["runs"], ["40, all valid"]]);
});

test("doubts that make the numbers invalid are marked", () => {
  const { one, texts } = page({ type: "doubts", title: "INVALID", bad: true, lines: ["lag"], small: ["1 check"] });
  expect(one(".doubts").classList.contains("bad")).toBe(true);
  expect(texts("li")).toEqual(["lag"]);
});

test("a finding opens to show its evidence, and similar findings are folded", () => {
  const finding = {
    id: "KNEE",
    weight: "insight" as const,
    word: "insight",
    statement: "old saturates at 53 requests/s.",
    advice: "Measure within the bracket.",
    rule: "Throughput stops growing.",
    place: "old",
    evidence: [{ name: "peak", value: "53.1/s" }],
    charts: [],
  };
  const { one, texts } = page({
    type: "findings",
    findings: [finding],
    folded: [{ ...finding, statement: "new does." }],
  });
  expect(texts(".statement")).toEqual(["insightold saturates at 53 requests/s.", "insightnew does."]);
  expect(one("details summary").textContent).toBe("Evidence");
  expect(one(".evidence").textContent).toBe("peak53.1/s");
  expect(one("details.more > summary").textContent).toBe("1 more of the same rules");
});

test("details are open when is_open is true, and a level has a heading", () => {
  const details = {
    type: "details" as const,
    blocks: [paragraph("inside")],
    soft: "",
    is_level: false,
    is_open: false,
  };
  const { all, texts } = page(
    { ...details, summary: "closed", soft: "3 lines" },
    { ...details, summary: "48 users", is_level: true, is_open: true },
  );
  expect(all<HTMLDetailsElement>("details").map((each) => each.open)).toEqual([false, true]);
  expect(texts("summary")).toEqual(["closed 3 lines", "48 users"]);
  expect(texts("summary h3")).toEqual(["48 users"]);
});

test("a choice shows the selected part", () => {
  const parts = [
    { title: "run 1", blocks: [paragraph("first")] },
    { title: "run 2", blocks: [paragraph("second")] },
  ];
  const { one, texts } = page({ type: "choice", label: "run", parts });
  expect(texts("p")).toEqual(["first"]);
  picked(one("select"), "1");
  expect(texts("p")).toEqual(["second"]);
});

test("a choice with one part has no list", () => {
  const { all, texts } = page({ type: "choice", label: "run", parts: [{ title: "only", blocks: [paragraph("it")] }] });
  expect(all("select")).toEqual([]);
  expect(texts("p")).toEqual(["it"]);
});

test("notes have their marks above them", () => {
  const { texts } = page({ type: "notes", marks: ["¹ left out"], lines: ["Closed model."] });
  expect([texts(".note .line"), texts(".notes li")]).toEqual([["¹ left out"], ["Closed model."]]);
});

test("a table has chips with their lines, a total, and soft rows", () => {
  const rows = [
    row("/a", "20", "DIFFERENT"),
    row("/b", "–", ""),
    row("/c", "30", "EQUIVALENT", "void"),
    row("Aggregated", "25", "", "total"),
  ];
  const { all, one, texts } = page(
    tableBlock(table("Requests", rows, "3 more"), { words: ["DIFFERENT", "EQUIVALENT"] }),
  );
  expect(texts("tbody tr.void td.long")).toEqual(["/c"]);
  expect(texts("tfoot td.long")).toEqual(["Aggregated"]);
  expect(one("p.note").textContent).toBe("3 more");
  doing(() => all("details.verdict summary")[0]?.click());
  picked(one("select"), "DIFFERENT");
  expect(texts("tbody td.long")).toEqual(["/a"]);
  expect(one("details.verdict p").textContent).toBe("why /a");
});
