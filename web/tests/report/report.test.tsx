import { expect, test } from "vitest";
import { Report } from "../../src/report/report";
import { document, paragraph, section } from "../blocks/sample";
import { doing, shown } from "../page";

const sample = document({ sections: [section("notes", "Notes", [paragraph("text")])] });

test("a report has its own frame: contents, document, author", () => {
  const { one, texts } = shown(<Report document={sample} />);
  expect(texts("header nav a")).toEqual(["Notes"]);
  expect(one("main h1").textContent).toBe("Old against new");
  expect(one("footer").textContent).toContain("Written by Plimsoll 0.1.0.");
  expect(texts("nav")).toHaveLength(1);
});

test("the button switches between light and dark, and names the next theme", () => {
  const { one } = shown(<Report document={sample} />);
  const button = one("button.theme");
  const before = button.getAttribute("aria-label");
  doing(() => button.click());
  expect(window.document.documentElement.dataset.theme).toBe(before?.includes("dark") ? "dark" : "light");
  expect(button.getAttribute("aria-label")).not.toBe(before);
  doing(() => button.click());
  expect(button.getAttribute("aria-label")).toBe(before);
});
