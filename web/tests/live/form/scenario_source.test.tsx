import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Form, ProofItem, ScenarioItem } from "../../../src/contract";
import { ScenarioSource, forgetScenario } from "../../../src/live/form/scenario_source";
import type { NamedContent } from "../../../src/live/session";
import { formOf } from "../examples";

const SCENARIO: ScenarioItem = {
  id: "1",
  source: "shop.har",
  file: "shop.toml",
  plan: 'target = "http://127.0.0.1:8000"',
  steps: [
    { method: "GET", name: "/login", takes: ["csrf"] },
    { method: "POST", name: "/login", takes: [] },
  ],
  summary: "2 steps of 3 requests.",
  notes: ["step 2 sends a UUID"],
  proof_offer: "A proof sends the scenario 12 times.",
};
const PROOF: ProofItem = {
  summary: "Proof: 1 of 2 steps proven by one user.",
  steps: [
    { state: "proven", why: "" },
    { state: "differs", why: "status 409, recorded 201" },
  ],
  explanation: "step 2 sends csrf as recorded.",
};

let root: HTMLElement;
let refusal: Error | null;
const asked: unknown[][] = [];

beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
  asked.length = 0;
  refusal = null;
  forgetScenario();
});
afterEach(() => {
  render(null, root);
  root.remove();
});

function answered<T>(value: T, ...what: unknown[]): Promise<T> {
  asked.push(what);
  return refusal ? Promise.reject(refusal) : Promise.resolve(value);
}

const server = {
  takeScenario: async (files: readonly NamedContent[], variables: readonly string[]) => {
    const texts = await Promise.all(files.map(async ({ name, content }) => [name, await content.text()]));
    return answered(SCENARIO, "take", ...texts.flat(), variables);
  },
  proveScenario: ({ id }: { id: string }) => answered(PROOF, "prove", id),
  useScenario: ({ id }: { id: string }) => answered(undefined, "use", id),
};
const onUsed = () => answered(undefined, "used");

async function shown(form: Form = formOf()): Promise<void> {
  await act(() => render(<ScenarioSource form={form} server={server} onUsed={onUsed} />, root));
}

/** Waits for what the last event has begun. */
async function settled(): Promise<void> {
  await act(() => new Promise((resolve) => setTimeout(resolve)));
}

async function drop(files: File[], text = ""): Promise<void> {
  const event = new DragEvent("drop", { bubbles: true, cancelable: true });
  Object.defineProperty(event, "dataTransfer", { value: { files, getData: () => text } });
  root.querySelector(".drop")?.dispatchEvent(event);
  await settled();
}

async function type(field: string, text: string): Promise<void> {
  const area = root.querySelector<HTMLTextAreaElement>(`[name="${field}"]`);
  if (!area) throw new Error(`there is no ${field}`);
  area.value = text;
  await act(() => void area.dispatchEvent(new Event("input", { bubbles: true })));
}

async function press(name: string): Promise<void> {
  const button = [...root.querySelectorAll("button")].find((element) => element.textContent === name);
  if (!button) throw new Error(`there is no button ${name}`);
  button.click();
  await settled();
}

const cells = () =>
  [...root.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));

describe("a scenario of a recording", () => {
  it("is made of two files that are dropped together", async () => {
    await shown();
    await drop([new File(["{}"], "first.har"), new File(["[]"], "second.har")]);
    expect(asked).toEqual([["take", "first.har", "{}", "second.har", "[]", []]]);
  });

  it("is made of a dropped file and shown with its steps and notes", async () => {
    await shown();
    await drop([new File(["{}"], "shop.har")]);
    expect(asked).toEqual([["take", "shop.har", "{}", []]]);
    expect(root.querySelector("h2")?.textContent).toBe("shop.har");
    expect(cells()).toEqual([
      ["1", "GET", "/login", "csrf"],
      ["2", "POST", "/login", "–"],
    ]);
    for (const text of [SCENARIO.summary, ...SCENARIO.notes, SCENARIO.proof_offer]) {
      expect(root.textContent).toContain(text);
    }
  });

  it("is made of a dropped or pasted text, with values of variables", async () => {
    await shown();
    await drop([], "curl http://127.0.0.1/");
    await type("scenario_text", "curl http://127.0.0.1/a");
    await type("scenario_variables", " base=http://127.0.0.1:8000\n\n");
    await press("Read the text");
    expect(asked).toEqual([
      ["take", "", "curl http://127.0.0.1/", []],
      ["take", "", "curl http://127.0.0.1/a", ["base=http://127.0.0.1:8000"]],
    ]);
  });

  it("is sent only when a person asks for its proof, which each step then has", async () => {
    await shown();
    await drop([new File(["{}"], "shop.har")]);
    await press("Prove it");
    expect(asked.at(-1)).toEqual(["prove", "1"]);
    expect(cells().map((row) => row.slice(4))).toEqual([
      ["proven", "–"],
      ["differs", "status 409, recorded 201"],
    ]);
    expect(root.textContent).toContain(`${PROOF.summary} ${PROOF.explanation}`);
  });

  it("becomes the source of the form, which can go back to its own", async () => {
    await shown();
    await drop([new File(["{}"], "shop.har")]);
    await press("Use it");
    expect(asked.slice(1)).toEqual([["use", "1"], ["used"]]);
    await shown(formOf({ source: "shop.toml", first_source: "locustfile.py" }));
    expect(root.textContent).toContain("Runs are of shop.toml.");
    await press("Back to locustfile.py");
    expect(asked.slice(3)).toEqual([["use", ""], ["used"]]);
  });

  it("says at the field why a file cannot be used, and keeps the last scenario", async () => {
    await shown();
    await drop([new File(["{}"], "shop.har")]);
    refusal = new Error("x.har:2:14: not JSON");
    await drop([new File(["{"], "x.har")]);
    expect(root.querySelector("#field-scenario_file-problem")?.textContent).toBe("x.har:2:14: not JSON");
    expect(root.querySelector('[name="scenario_file"]')?.getAttribute("aria-invalid")).toBe("true");
    expect(root.querySelector("h2")?.textContent).toBe("shop.har");
    await press("Prove it");
    expect(root.querySelector('[role="alert"]')?.textContent).toBe("x.har:2:14: not JSON");
  });
});
