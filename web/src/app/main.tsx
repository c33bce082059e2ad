import { render } from "preact";
import "../style";
import "./app.css";
import { loadCharts } from "../charts";
import { server } from "../live/server";
import { Session } from "../live/session";
import { startTheme } from "../shared";
import { App } from "./app";
import { loadHistory } from "./history_page";

startTheme();
const session = new Session(server);
void session.begin();
const root = document.getElementById("page");
if (root) {
  root.replaceChildren();
  render(<App session={session} />, root);
  // Vega is large. It loads after the first paint, so that the first chart does not wait for it.
  requestAnimationFrame(() => setTimeout(() => (loadCharts(), void loadHistory().catch(() => undefined))));
}
