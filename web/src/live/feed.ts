import { signal } from "@preact/signals";
import { endOf } from "../charts";
import type { ChartSpec, LiveCharts, LiveUpdate } from "../contract";
import type { Rows } from "../shared";

type RowListener = (rows: Rows) => void;

/** ms until charts are requested again after an error. */
const RETRY_MS = 3000;

/** The charts of one endpoint or of all endpoints. Each live update appends rows to them. */
export class ChartFeed {
  /** The charts with all their rows; null until they are loaded. A new value means: redraw. */
  readonly charts = signal<LiveCharts | null>(null);

  /** The last second that the charts have rows for. */
  readonly end = signal(0);

  private readonly ask: (endpoint: string | null) => Promise<LiveCharts>;
  private endpoint: string | null = null;
  private isWanted = false;
  private isReady = false;
  private turn = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Updates that arrived while the charts load. null: nothing is loading. */
  private waiting: LiveUpdate[] | null = null;
  private readonly listeners = new Map<string, Set<RowListener>>();

  constructor(ask: (endpoint: string | null) => Promise<LiveCharts>) {
    this.ask = ask;
  }

  /** A component shows charts: keep them up to date from now on. */
  want(): void {
    if (this.isWanted) return;
    this.isWanted = true;
    if (this.isReady) this.load();
  }

  /** Subscribes to a chart's rows. The listener runs after the rows were added to the chart's data sets. */
  follow(name: string, listener: RowListener): () => void {
    const listeners = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Selects an endpoint. Its charts start with the next whole update, the first with rows for them. */
  select(endpoint: string | null): void {
    this.endpoint = endpoint;
    this.isReady = false;
    this.turn++;
    this.waiting = null;
    this.charts.value = null;
  }

  /** A whole update reloads everything: the connection or the run is new. */
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
        if (turn === this.turn) this.timer = setTimeout(() => this.load(), RETRY_MS);
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
    for (const [name, rows] of Object.entries(moment.appended)) {
      this.listeners.get(name)?.forEach((listener) => listener(rows));
    }
    this.look();
  }

  private look(): void {
    this.end.value = Math.max(0, ...(this.charts.peek()?.charts ?? []).map(endOf));
  }
}

/** Gives a reloaded chart a new identity, so that it is redrawn even if it looks the same: its data sets are new. */
function marked(chart: ChartSpec, sequence: number): ChartSpec {
  const usermeta = { ...(chart.spec.usermeta as object | undefined), sequence };
  return { ...chart, spec: { ...chart.spec, usermeta } };
}

/** Appends to the data sets themselves. A chart that is shown later needs all rows, and updates hold only new ones. */
function grow(charts: readonly ChartSpec[], appended: LiveUpdate["appended"]): void {
  for (const chart of charts) {
    const rows = appended[chart.name];
    if (!rows) continue;
    const datasets = (chart.spec.datasets ??= {}) as Rows;
    for (const [name, more] of Object.entries(rows)) (datasets[name] ??= []).push(...more);
  }
}
