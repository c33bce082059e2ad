import { render } from "preact";
import { act } from "preact/test-utils";
import { useState } from "preact/hooks";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TabBar, TabPanel } from "../../src/live/tab_bar";

const TABS = ["a", "b", "c"].map((id) => ({ id, title: id.toUpperCase() }));

let root: HTMLElement;

beforeEach(async () => {
  root = document.createElement("div");
  document.body.append(root);
  await act(() => render(<Example />, root));
});
afterEach(() => {
  render(null, root);
  root.remove();
});

function Example() {
  const [chosen, choose] = useState("a");
  return (
    <>
      <TabBar label="Parts" tabs={TABS} chosen={chosen} choose={choose} />
      <TabPanel id={chosen}>
        <p>{chosen}</p>
      </TabPanel>
    </>
  );
}

async function press(key: string): Promise<void> {
  await act(
    () =>
      void document.activeElement?.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
      ),
  );
}

const chosen = () => root.querySelector('[role="tab"][aria-selected="true"]');

describe("tabs", () => {
  it("move with arrows, Home and End, and wrap around", async () => {
    root.querySelector<HTMLElement>('[role="tab"]')?.focus();
    const seen: (string | null | undefined)[] = [];
    for (const key of ["ArrowRight", "End", "ArrowRight", "ArrowLeft", "Home", "x"]) {
      await press(key);
      expect(document.activeElement).toBe(chosen());
      seen.push(chosen()?.textContent);
    }
    expect(seen).toEqual(["B", "C", "A", "C", "A", "A"]);
  });

  it("have one stop for Tab, and each panel has its tab's name", () => {
    const stops = [...root.querySelectorAll<HTMLElement>('[role="tab"]')].filter((each) => each.tabIndex === 0);
    expect(stops).toEqual([chosen()]);
    const panel = root.querySelector('[role="tabpanel"]');
    expect(panel?.getAttribute("aria-labelledby")).toBe(chosen()?.id);
    expect(chosen()?.getAttribute("aria-controls")).toBe(panel?.id);
  });
});
