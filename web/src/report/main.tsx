/** The report in one file. The page contains the document. */
import "../style";
import { render } from "preact";
import type { ReportDocument } from "../contract";
import { startTheme } from "../shared";
import { Report } from "./report";

startTheme();
const place = document.getElementById("page");
const data = document.getElementById("document")?.textContent;
if (place && data) {
  const report = JSON.parse(data) as ReportDocument;
  if (!report.charts.length) document.documentElement.dataset.drawn = "all";
  render(<Report document={report} />, place);
}
