import { expect, test } from "vitest";
import { DocumentView } from "../../src/blocks";
import { doing, shown, typed } from "../page";
import { chart, document, paragraph, row, section, table, tableBlock } from "./sample";

const growing = (p99: string, more = 0) =>
  document({
    charts: [chart("times")],
    sections: [
      section("numbers", "Numbers", [
        tableBlock(
          table("Requests", [row("/a", p99), ...Array.from({ length: 20 + more }, (_, n) => row(`/${n}`, "1"))]),
        ),
        { type: "figures", charts: ["times"], wide: true },
      ]),
      section("notes", "How to read this", [
        { type: "details", summary: "more", blocks: [paragraph("text")], is_open: false, is_level: false, soft: "" },
      ]),
    ],
  });

test("a document has its title, the lines below it, its head and its sections", () => {
  const { one, texts } = shown(
    <DocumentView
      document={document({ head: [paragraph("first of all")], sections: [section("a", "A", [paragraph("in a")])] })}
    />,
  );
  expect(one("h1").textContent).toBe("Old against new");
  expect(texts("p")).toEqual(["Is the new build as fast?", "first of all", "in a"]);
  expect(texts("section#a > h2")).toEqual(["A"]);
});

test("the title can be left out", () => {
  const { all } = shown(<DocumentView document={document()} hasTitle={false} />);
  expect(all("h1, p")).toEqual([]);
});

test("the contents list the labels of the sections, without duplicates of unlabelled ones", () => {
  const sections = [
    section("course", "Second by second", [], { label: "Time" }),
    section("hidden", "Hidden", [], { in_contents: false }),
    section("notes", "Notes", []),
  ];
  const { texts, all } = shown(<DocumentView document={document({ sections })} />);
  expect(texts("nav a")).toEqual(["Time", "Notes"]);
  expect(all("nav a").map((link) => link.getAttribute("href"))).toEqual(["#course", "#notes"]);
});

test("a link of the contents keeps the page's address and scrolls to the section", () => {
  location.hash = "#/runs/1";
  const { one } = shown(<DocumentView document={document({ sections: [section("notes", "Notes", [])] })} />);
  doing(() => one("nav a").click());
  expect(location.hash).toBe("#/runs/1");
  expect(window.document.activeElement?.id).toBe("notes");
});

test("the state of the page stays when the document is replaced", () => {
  const { one, texts, draw } = shown(<DocumentView document={growing("10")} />);
  typed(one("input[type=search]"), "/a");
  doing(() => {
    const details = one<HTMLDetailsElement>("details");
    details.open = true;
    details.dispatchEvent(new Event("toggle"));
  });
  void draw(<DocumentView document={growing("20", 3)} />);
  expect(one<HTMLInputElement>("input[type=search]").value).toBe("/a");
  expect(texts("tbody td:nth-child(3)")).toEqual(["20"]);
  expect(one<HTMLDetailsElement>("details").open).toBe(true);
});

test("a chart has its height before it is drawn, and a text description", () => {
  const { one } = shown(<DocumentView document={growing("10")} />);
  const plot = one("[data-chart=times] .plot");
  expect(plot.style.minHeight).toBe("90px");
  expect(plot.getAttribute("aria-label")).toBe("Title of times. What is seen.");
});

test("a chart that is missing in the document is left out", () => {
  const { all } = shown(
    <DocumentView
      document={document({ sections: [section("a", "A", [{ type: "figures", charts: ["gone"], wide: false }])] })}
    />,
  );
  expect(all("figure")).toEqual([]);
});
