import { expect, test } from "vitest";
import { render } from "preact";
import { Prose } from "../../src/blocks/prose";

function drawn(text: string): HTMLElement {
  const into = document.createElement("p");
  render(<Prose text={text} />, into);
  return into;
}

test("commands and options are set as code", () => {
  const into = drawn("more workers (--processes); `plimsoll show RUN --json` has all");
  expect([...into.querySelectorAll("code")].map((each) => each.textContent)).toEqual([
    "--processes",
    "plimsoll show RUN --json",
  ]);
  expect(into.textContent).toBe("more workers (--processes); plimsoll show RUN --json has all");
});

test("other text keeps its dashes and backticks", () => {
  for (const text of ["GET /`a`", "a--b", "3 -- 4", "", "<b>--</b>"]) {
    const into = drawn(text);
    expect(into.textContent).toBe(text);
    expect(into.querySelector("code")).toBeNull();
  }
});
