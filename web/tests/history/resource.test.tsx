import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useResource } from "../../src/history/resource";

interface Thing {
  text: string;
  grows: boolean;
}

type Answer = (path: string) => Response | Promise<Response>;

let root: HTMLElement;
let answer: Answer;
const asked: string[] = [];
const shown: (Thing | null)[] = [];

function Shown({ path, keeps = false }: { path: string | null; keeps?: boolean }) {
  const { data, error, isLoading } = useResource<Thing>(path, { again: (found) => (found.grows ? 1 : null), keeps });
  shown.push(data);
  return (
    <p>
      {data?.text ?? "nothing"}|{error}|{isLoading ? "asking" : "quiet"}
    </p>
  );
}

const json = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status });
const says = (text: string): Promise<void> => vi.waitFor(() => expect(root.textContent).toBe(text));
const draw = (path: string | null, keeps = false) => act(() => render(<Shown path={path} keeps={keeps} />, root));

beforeEach(() => {
  root = document.createElement("div");
  asked.length = shown.length = 0;
  vi.stubGlobal("fetch", (url: string) => {
    const path = url.slice(url.indexOf("api/"));
    asked.push(path);
    return Promise.resolve(answer(path));
  });
});
afterEach(() => {
  render(null, root);
  vi.unstubAllGlobals();
});

describe("a resource of the server", () => {
  it("is shown when it arrives", async () => {
    answer = () => json({ text: "one", grows: false });
    await draw("api/a");
    await says("one||quiet");
    expect(asked).toEqual(["api/a"]);
  });

  it("is requested again while it grows", async () => {
    let number = 0;
    answer = () => json({ text: String(++number), grows: number < 3 });
    await draw("api/a");
    await says("3||quiet");
    expect(asked).toHaveLength(3);
  });

  it("is the same object while nothing in it has changed", async () => {
    let number = 0;
    answer = () => json({ text: "same", grows: ++number < 3 });
    await draw("api/a");
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    await says("same||quiet");
    // The last response differs: it does not grow.
    expect(new Set(shown.filter(Boolean)).size).toBe(2);
  });

  it("is not taken from the response to an earlier request", async () => {
    const gate: { open?: () => void } = {};
    answer = (path) =>
      path === "api/a"
        ? json({ text: "a", grows: false })
        : new Promise((done) => (gate.open = () => done(json({ text: "b", grows: false }))));
    await draw("api/a");
    await says("a||quiet");
    await draw("api/b");
    await says("nothing||asking");
    gate.open?.();
    await says("b||quiet");
  });

  it("stays visible while a list is searched", async () => {
    const gate: { open?: () => void } = {};
    answer = (path) =>
      path === "api/a"
        ? json({ text: "a", grows: false })
        : new Promise((done) => (gate.open = () => done(json({ text: "b", grows: false }))));
    await draw("api/a", true);
    await says("a||quiet");
    await draw("api/b", true);
    await says("a||asking");
    gate.open?.();
    await says("b||quiet");
  });

  it("shows the server's message after a refusal and is not requested again", async () => {
    answer = () => json({ error: "there is no such run", field: "" }, 404);
    await draw("api/a");
    await says("nothing|there is no such run|quiet");
    expect(asked).toHaveLength(1);
  });

  it("is null without a path", async () => {
    answer = () => json({});
    await draw(null);
    expect(root.textContent).toBe("nothing||quiet");
    expect(asked).toEqual([]);
  });
});
