import { signal } from "@preact/signals";
import { endOf } from "../charts";
import type { ChartSpec, LiveCharts, LiveUpdate } from "../contract";
import type { Rows } from "../shared";

type Hear = (rows: Rows) => void;

/** ms after which charts that could not be had are asked for again. */
const AGAIN = 3000;

/** The charts of all endpoints or of one, and the rows that moments add to them. */
export class ChartFeed {
  /** With all rows so far in them; null until they are there. Another value means that they must be drawn anew. */
  readonly charts = signal<LiveCharts | null>(null);

  /** The second that what is drawn reaches to. */
  readonly end = signal(0);

  private readonly ask: (endpoint: string | null) => Promise<LiveCharts>;
  private endpoint: string | null = null;
  private isWanted = false;
  private isReady = false;
  private turn = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Moments that have come while the charts have not. null: nothing is under way. */
  private waiting: LiveUpdate[] | null = null;
  private readonly hearers = new Map<string, Set<Hear>>();

  constructor(ask: (endpoint: string | null) => Promise<LiveCharts>) {
    this.ask = ask;
  }

  /** Somebody wants to see charts: from now on they are kept up to date. */
  want(): void {
    if (this.isWanted) return;
    this.isWanted = true;
    if (this.isReady) this.load();
  }

  /** hear is told each row that comes, after it was added to the chart's data sets. */
  follow(name: string, hear: Hear): () => void {
    const hearers = this.hearers.get(name) ?? new Set();
    this.hearers.set(name, hearers.add(hear));
    return () => hearers.delete(hear);
  }

  /** The charts of this endpoint from the next whole moment on, which is the first one that has rows for them. */
  select(endpoint: string | null): void {
    this.endpoint = endpoint;
    this.isReady = false;
    this.turn++;
    this.waiting = null;
    this.charts.value = null;
  }

  /** After a whole moment all is asked for again: the connection is new, or the run is. */
  take(moment: LiveUpdate): void {
    if (moment.is_whole) this.isReady = true;
    if (!this.isWanted || !this.isReady) return;
    if (moment.is_whole || moment.is_outdated) this.load();
    if (this.waiting) this.waiting.push(moment);
    else this.add(moment);
  }

  private load(): void {
    const turn = ++this.turn;
    clearTimeout(this.timer);
    this.waiting = [];
    this.ask(this.endpoint).then(
      (charts) => turn === this.turn && this.begin(charts),
      () => {
        if (turn === this.turn) this.timer = setTimeout(() => this.load(), AGAIN);
      },
    );
  }

  private begin(charts: LiveCharts): void {
    const missed = this.waiting ?? [];
    this.waiting = null;
    for (const moment of missed) if (moment.sequence > charts.sequence) grow(charts.charts, moment.appended);
    this.charts.value = { ...charts, charts: charts.charts.map((each) => marked(each, charts.sequence)) };
    this.look();
  }

  private add(moment: LiveUpdate): void {
    const charts = this.charts.peek();
    if (!charts || moment.sequence <= charts.sequence) return;
    grow(charts.charts, moment.appended);
    for (const [name, rows] of Object.entries(moment.appended)) this.hearers.get(name)?.forEach((hear) => hear(rows));
    this.look();
  }

  private look(): void {
    this.end.value = Math.max(0, ...(this.charts.peek()?.charts ?? []).map(endOf));
  }
}

/** Charts that were asked for again are drawn again, even if they should look the same: their data sets are others. */
function marked(chart: ChartSpec, sequence: number): ChartSpec {
  const usermeta = { ...(chart.spec.usermeta as object | undefined), sequence };
  return { ...chart, spec: { ...chart.spec, usermeta } };
}

/** Adds rows to the data sets themselves: they are sent in pieces, and a chart that is shown later needs all. */
function grow(charts: readonly ChartSpec[], appended: LiveUpdate["appended"]): void {
  for (const chart of charts) {
    const rows = appended[chart.name];
    if (!rows) continue;
    const datasets = (chart.spec.datasets ??= {}) as Rows;
    for (const [name, more] of Object.entries(rows)) (datasets[name] ??= []).push(...more);
  }
}
