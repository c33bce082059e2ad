import { Dropdown } from "../blocks";

/** Report formats: (format, description). */
const REPORT = [
  ["html", "HTML: this page in one file"],
  ["md", "Markdown"],
  ["csv", "CSV: a row per run and endpoint"],
  ["json", "JSON: all of it"],
  ["junit", "JUnit XML"],
  ["svg", "Charts as SVG (.zip)"],
  ["png", "Charts as PNG (.zip)"],
] as const;

/** More formats of a run. */
const RUN = [
  ["hlog", "HdrHistogram log"],
  ["seconds.csv", "CSV: a row per second"],
  ["parquet", "Parquet: a row per second"],
  ["locust-stats.csv", "Locust's CSV: stats"],
  ["locust-stats-history.csv", "Locust's CSV: history"],
  ["locust-failures.csv", "Locust's CSV: failures"],
] as const;

/** A menu of files. address: the path of a format, below the base path. */
export function Downloads({ address, isRun = false }: { address: (format: string) => string; isRun?: boolean }) {
  return (
    <Dropdown title="Download">
      {(close) => (
        <ul class="plain-list files">
          {[...REPORT, ...(isRun ? RUN : [])].map(([format, title]) => (
            <li key={format}>
              <a href={address(format)} download onClick={close}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      )}
    </Dropdown>
  );
}
