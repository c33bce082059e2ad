import { render } from "preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { HistoryPage, loadHistory } from "../../src/app/history_page";

const place = document.body.appendChild(document.createElement("div"));

beforeEach(() => {
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
});

afterEach(() => {
  render(null, place);
  vi.unstubAllGlobals();
});

it("is shown, too, when its code arrives between the first drawing and what follows it", async () => {
  await import("../../src/history");
  // Effects come with a frame or later; the code is here before.
  render(<HistoryPage route={{ page: "runs" }} onShown={() => undefined} />, place);
  expect(place.textContent).toBe("Loading…");
  await loadHistory();
  await vi.waitFor(() => expect(place.querySelector("h1")?.textContent).toBe("Runs"));
});
