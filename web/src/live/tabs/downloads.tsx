import type { JSX } from "preact";
import type { Test } from "../../contract";
import { address } from "../../shared";
import { isUnfinished } from "../status";

interface File {
  path: string;
  title: string;
  text: string;
}

const OF_RUN: readonly File[] = [
  { path: "html", title: "Report (HTML)", text: "One file that opens anywhere, without a network" },
  { path: "md", title: "Report (Markdown)", text: "For a pull request or an issue" },
  { path: "json", title: "Everything (JSON)", text: "All that is known of the run" },
  { path: "csv", title: "Numbers (CSV)", text: "A row for each endpoint" },
  { path: "hlog", title: "Histograms (HdrHistogram log)", text: "A line for each second and endpoint" },
  { path: "junit", title: "Thresholds (JUnit XML)", text: "For a CI server" },
  { path: "locust-stats.csv", title: "Locust's statistics (CSV)", text: "The columns of Locust's _stats.csv" },
];

const NOW: readonly File[] = [
  { path: "stats/requests/csv", title: "Requests (CSV)", text: "As Locust writes them" },
  { path: "stats/failures/csv", title: "Failures (CSV)", text: "As Locust writes them" },
  { path: "exceptions/csv", title: "Exceptions (CSV)", text: "As Locust writes them" },
];

/** Files of the run. */
export function Downloads({ test }: { test: Test }): JSX.Element {
  const base = `api/runs/${encodeURIComponent(test.run)}/`;
  return (
    <>
      {test.run && (
        <>
          {isUnfinished(test) && <p class="soft">The run goes on: these files have what is stored of it so far.</p>}
          <Files files={OF_RUN.map((each) => ({ ...each, path: base + each.path }))} label="The run" />
        </>
      )}
      {!test.run && (
        <p class="soft">This run is not in the store, or not yet: its reports are offered here once it is.</p>
      )}
      <h3>The numbers as they are now</h3>
      <Files files={NOW} label="The numbers as they are now" />
    </>
  );
}

function Files({ files, label }: { files: readonly File[]; label: string }): JSX.Element {
  return (
    <ul class="files" aria-label={label}>
      {files.map((each) => (
        <li key={each.path}>
          <a href={address(each.path)} download>
            {each.title}
          </a>
          <span class="soft">{each.text}</span>
        </li>
      ))}
    </ul>
  );
}
