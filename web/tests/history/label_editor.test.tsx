import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Label } from "../../src/contract";
import { LabelEditor } from "../../src/history/label_editor";

let root: HTMLElement;
const sent: Label[] = [];

beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
  sent.length = 0;
});
afterEach(() => {
  render(null, root);
  root.remove();
});

const taken = (label: Label): Promise<void> => {
  sent.push(label);
  return Promise.resolve();
};

async function shown(save: (label: Label) => Promise<void> = taken): Promise<void> {
  await act(() => render(<LabelEditor of="run 1" label={{ tags: ["a", "b"], note: "slow disk" }} save={save} />, root));
}

function find(selector: string): HTMLElement & { value?: string } {
  const found = root.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`${selector} is not there: ${root.innerHTML}`);
  return found;
}

async function open(): Promise<void> {
  await act(() => find("button").click());
}

async function type(selector: string, text: string): Promise<void> {
  await act(() => {
    const field = find(selector);
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

async function press(selector: string, key: string, shiftKey = false): Promise<void> {
  await act(async () => {
    find(selector).dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
    await Promise.resolve();
  });
}

async function submit(): Promise<void> {
  await act(async () => {
    find("form").dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    await Promise.resolve();
  });
}

describe("tags and note of a run", () => {
  it("are shown, with a button whose name says what it edits", async () => {
    await shown();
    expect([...root.querySelectorAll("li")].map((each) => each.textContent)).toEqual(["a", "b"]);
    expect(root.textContent).toContain("slow disk");
    expect(find("button").textContent).toBe("Edit tags and note of run 1");
  });

  it("are sent when they have changed, and the focus returns to the button", async () => {
    await shown();
    await open();
    expect(document.activeElement).toBe(find("input"));
    await type("input", "a, c");
    await submit();
    expect(sent).toEqual([{ tags: ["a", "c"], note: null }]);
    expect(root.querySelector("form")).toBeNull();
    expect(document.activeElement).toBe(find("button"));
  });

  it("are not sent when nothing has changed", async () => {
    await shown();
    await open();
    await submit();
    expect(sent).toEqual([]);
    expect(root.querySelector("form")).toBeNull();
  });

  it("stay unchanged after Escape", async () => {
    await shown();
    await open();
    await type("textarea", "something else");
    await press("textarea", "Escape");
    expect(sent).toEqual([]);
    expect(root.querySelector("form")).toBeNull();
    expect(root.textContent).toContain("slow disk");
  });

  it("are saved by Enter in the note, and Shift+Enter inserts a line break", async () => {
    await shown();
    await open();
    await type("textarea", "two disks");
    await press("textarea", "Enter", true);
    expect(sent).toEqual([]);
    await press("textarea", "Enter");
    expect(sent).toEqual([{ tags: null, note: "two disks" }]);
  });

  it("stay in the form next to the server's error", async () => {
    await shown(() => Promise.reject(new Error("a tag has at most 40 characters")));
    await open();
    await type("input", "much too long");
    await submit();
    await vi.waitFor(() => expect(find("[role=alert]").textContent).toBe("a tag has at most 40 characters"));
    expect(find("input").value).toBe("much too long");
  });
});
