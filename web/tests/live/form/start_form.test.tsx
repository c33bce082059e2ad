import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Form, LoadCurve, RunRequest } from "../../../src/contract";
import { StartForm, forgetDraft } from "../../../src/live/form/start_form";
import type { Complaint } from "../../../src/live/form/request";
import { formOf } from "../examples";

let root: HTMLElement;
let answer: Complaint[];
const asked: RunRequest[] = [];

beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
  asked.length = 0;
  answer = [];
  forgetDraft();
});
afterEach(() => {
  render(null, root);
  root.remove();
});

const start = (request: RunRequest): Promise<Complaint[]> => {
  asked.push(request);
  return Promise.resolve(answer);
};

const check = (): Promise<Complaint[]> => Promise.resolve(answer);

const curveOf = (): Promise<LoadCurve> => Promise.reject(new Error("this form cannot be read"));

async function shown(form: Form = formOf(), isLost = false): Promise<void> {
  const part = { form, check, start, curveOf, isLost };
  await act(() => render(<StartForm {...part} />, root));
}

function find(selector: string): HTMLElement {
  const found = root.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`there is no ${selector}`);
  return found;
}

function inputOf(selector: string): HTMLInputElement {
  return find(selector) as HTMLInputElement;
}

/** Whether the first foldable part below the form is open. */
function isOpen(): boolean {
  return (find("details.fold") as HTMLDetailsElement).open;
}

async function type(field: string, text: string): Promise<void> {
  const input = inputOf(`[name="${field}"]`);
  input.value = text;
  await act(() => void input.dispatchEvent(new Event("input", { bubbles: true })));
}

async function submit(): Promise<void> {
  await act(() => (find("form") as HTMLFormElement).requestSubmit());
  await act(() => Promise.resolve());
}

describe("the start form", () => {
  it("starts a run with the server's defaults", async () => {
    await shown();
    await submit();
    expect(asked).toEqual([formOf().request]);
  });

  it("starts a run with the typed values", async () => {
    await shown();
    await type("users", "500");
    await type("host", " http://127.0.0.1:9 ");
    await submit();
    expect(asked[0]).toMatchObject({ users: 500, host: "http://127.0.0.1:9" });
  });

  it("lists the server's shapes and shows the syntax of one", async () => {
    await shown(formOf({}, { shape: "stages", model: "open" }));
    const choices = [...find('[name="shape"]').querySelectorAll("option")].map((each) => each.textContent);
    expect(choices).toEqual(["Constant", "Stages"]);
    expect(find('label[for="field-shape_text"]').textContent).toBe("Stages of the arrival rate");
    expect(find("#field-shape_text-hint").textContent).toBe("To each level. For example 30s:9/s");
  });

  it("shows errors next to their fields and moves the focus to the summary", async () => {
    await shown();
    await type("users", "none");
    await submit();
    expect(asked).toEqual([]);
    const users = find('[name="users"]');
    const described = users.getAttribute("aria-describedby")?.split(" ") ?? [];
    expect(users.getAttribute("aria-invalid")).toBe("true");
    expect(described.map((id) => document.getElementById(id)?.textContent)).toContain(
      "Users must be a whole number, 1 or more.",
    );
    expect(document.activeElement).toBe(find('[role="alert"]'));
  });

  it("shows its own errors and the server's at once", async () => {
    answer = [
      { field: "users", text: "said already" },
      { field: "warmup", text: "'soon' is not a duration" },
    ];
    await shown();
    await type("users", "none");
    await submit();
    expect([...find('[role="alert"]').querySelectorAll("li")].map((each) => each.textContent)).toEqual([
      "Users must be a whole number, 1 or more.",
      "'soon' is not a duration",
    ]);
    expect(find('[role="alert"] h2').textContent).toBe("Fix this to start");
  });

  it("starts nothing while the connection is lost", async () => {
    await shown(formOf(), true);
    expect((find('button[type="submit"]') as HTMLButtonElement).disabled).toBe(true);
  });

  it("shows a server error next to its field, and opens the part with the field", async () => {
    answer = [{ field: "warmup", text: "'soon' is not a duration" }];
    await shown();
    expect(isOpen()).toBe(false);
    await submit();
    expect(isOpen()).toBe(true);
    expect(find("#field-warmup-problem").textContent).toBe("'soon' is not a duration");
  });

  it("removes the error of a field that has changed", async () => {
    answer = [{ field: "users", text: "too many" }];
    await shown();
    await submit();
    await type("users", "3");
    expect(root.querySelector('[role="alert"], .problem')).toBeNull();
  });

  it("keeps the input when the reader comes back", async () => {
    await shown();
    await type("users", "77");
    render(null, root);
    await shown();
    expect(inputOf('[name="users"]').value).toBe("77");
  });

  it("asks for a rate in the open model", async () => {
    await shown();
    await act(() => inputOf('[name="model"][value="open"]').click());
    expect(root.querySelector('[name="users"]')).toBeNull();
    await type("rate", "900/s");
    await submit();
    expect(asked[0]).toMatchObject({ model: "open", rate: "900/s" });
  });

  it("never shows a secret, and opens the locustfile's options when a required one is empty", async () => {
    const argument = { label: "", help: "", choices: [], required: false };
    const key = { ...argument, name: "key", kind: "secret", value: "" } as const;
    const tenant = { ...argument, name: "tenant", kind: "text", value: "", required: true } as const;
    await shown(formOf({ arguments: [key, tenant] }));
    expect(inputOf('[name="arguments.key"]').type).toBe("password");
    expect(isOpen()).toBe(true);
  });
});
