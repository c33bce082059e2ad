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

it("also appears when its code arrives between the first render and its effects", async () => {
  await import("../../src/history");
  // Effects run after the render. The code has arrived before that.
  render(<HistoryPage route={{ page: "runs" }} onShown={() => undefined} />, place);
  expect(place.textContent).toBe("Loading…");
  await loadHistory();
  await vi.waitFor(() => expect(place.querySelector("h1")?.textContent).toBe("Runs"));
});
