import { expect, test } from "vitest";
import { Folding, printing } from "../../src/blocks";
import { doing, shown } from "../page";

const opened = (element: HTMLDetailsElement, isOpen: boolean) =>
  doing(() => {
    element.open = isOpen;
    element.dispatchEvent(new Event("toggle"));
  });

test("a part with opensOnPaper is open in print, and returns to its old state", () => {
  const { all } = shown(
    <>
      <Folding summary="evidence" opensOnPaper>
        a
      </Folding>
      <Folding summary="more">b</Folding>
    </>,
  );
  const open = () => all<HTMLDetailsElement>("details").map((each) => each.open);
  expect(open()).toEqual([false, false]);
  doing(() => (printing.value = true));
  expect(open()).toEqual([true, false]);
  doing(() => (printing.value = false));
  expect(open()).toEqual([false, false]);
});

test("an open part stays open when the page renders again", () => {
  const folding = (text: string) => <Folding summary="evidence">{text}</Folding>;
  const { one, draw } = shown(folding("before"));
  opened(one("details"), true);
  void draw(folding("after"));
  expect(one<HTMLDetailsElement>("details").open).toBe(true);
  expect(one("details").textContent).toBe("evidenceafter");
});
