import { Figure } from "../charts";
import type { SeriesItem, Trend } from "../contract";
import { FIRST_METRIC } from "../shared/route";
import { trendAddress } from "./addresses";
import { SERIES_PATH, trendPath } from "./api";
import { Nothing, Trouble, Waiting } from "./notices";
import { useResource } from "./resource";
import { ChangeTable, PointTable } from "./trend_tables";

/** A metric over the runs of a series, oldest first. series: "" selects the series with the latest run. */
export function TrendPage({ series, metric }: { series: string; metric: string }) {
  const all = useResource<{ series: SeriesItem[] }>(SERIES_PATH);
  const known = all.data?.series ?? [];
  const key = series || latestOf(known);
  const asked = metric || FIRST_METRIC;
  const trend = useResource<Trend>(key ? trendPath(key, asked) : null, { keeps: true });
  const shown = trend.data;
  return (
    <div class="history">
      <h1 tabIndex={-1}>Trend</h1>
      {all.error && <Trouble error={all.error} again={all.reload} />}
      {all.data === null && !all.error && <Waiting>Looking for series…</Waiting>}
      {all.data !== null && known.length === 0 && <NoSeries />}
      {known.length > 0 && <Choices series={known} chosen={key} metric={asked} metrics={shown?.metrics ?? []} />}
      {trend.error && <Trouble error={trend.error} again={trend.reload} />}
      {key && shown === null && !trend.error && <Waiting>Reading the runs…</Waiting>}
      {shown !== null && (
        <div aria-busy={trend.isLoading}>
          {notesOf(shown).map((note) => (
            <p class="note" key={note}>
              {note}
            </p>
          ))}
          {shown.chart !== null && <Figure spec={shown.chart} config={shown.config} />}
          <ChangeTable trend={shown} />
          <PointTable trend={shown} />
        </div>
      )}
    </div>
  );
}

/** The notes that are not next to the chart. */
export function notesOf({ notes, chart }: Pick<Trend, "notes" | "chart">): readonly string[] {
  return notes.filter((note) => !chart?.note.includes(note));
}

/** The key of the latest series; "" if there is none. */
function latestOf(series: readonly SeriesItem[]): string {
  return [...series].sort((a, b) => b.latest - a.latest)[0]?.key ?? "";
}

interface ChoicesProps {
  series: readonly SeriesItem[];
  chosen: string;
  metric: string;
  metrics: readonly string[];
}

function Choices({ series, chosen, metric, metrics }: ChoicesProps) {
  // The address may name an unknown metric. It stays in the list, so that the reader can select another.
  const offered = metrics.includes(metric) ? metrics : [...new Set([metric, FIRST_METRIC, ...metrics])];
  const go = (key: string, name: string): void => location.replace(trendAddress(key, name));
  return (
    <form class="filters" aria-label="What is shown" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Series</span>
        <select value={chosen} onChange={(event) => go(event.currentTarget.value, metric)}>
          {!series.some((each) => each.key === chosen) && <option value={chosen}>unknown series {chosen}</option>}
          {series.map((each) => (
            <option key={each.key} value={each.key}>
              {each.label} ({each.runs === 1 ? "1 run" : `${String(each.runs)} runs`})
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Metric</span>
        <select value={metric} onChange={(event) => go(chosen, event.currentTarget.value)}>
          {offered.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

function NoSeries() {
  return (
    <Nothing title="Nothing to put in a row yet">
      <p>
        Runs of the same source against the same target under the same load are a series. Two of them are the beginning
        of a trend:
      </p>
      <pre>plimsoll run -f locustfile.py -H http://127.0.0.1:8000 -u 50 -r 5 -t 2m</pre>
    </Nothing>
  );
}
