import { signal } from "@preact/signals";
import type {
  LoadChange, ExceptionItem, FailureItem, LiveCharts, LogLine, LiveUpdate, State, TaskRatio, RunRequest,
} from "../contract"; // prettier-ignore
import { ChartFeed } from "./feed";
import { Link, type Listener } from "./link";
import { NOTHING, after, logAfter, type Seen } from "./moments";
import { isMeasuring } from "./status";
import { sayOf } from "../shared";

/** ms until a question that had no answer is asked again. */
const AGAIN = 2000;
/** ms for which an answer is as good as a new one. */
const FRESH = 1000;
/** ms that a run may take from being accepted to being seen. */
const START_PATIENCE = 10_000;

/** The server, as far as the live page needs it. All of it rejects with an Error that says why. */
export interface Server {
  state(): Promise<State>;
  stream(endpoint: string | null): EventSource;
  charts(endpoint: string | null): Promise<LiveCharts>;
  log(): Promise<readonly LogLine[]>;
  failures(): Promise<readonly FailureItem[]>;
  exceptions(): Promise<readonly ExceptionItem[]>;
  tasks(): Promise<readonly TaskRatio[]>;
  /** Rejects with what is wrong with it; starts nothing. */
  check(request: RunRequest): Promise<void>;
  start(request: RunRequest): Promise<void>;
  change(change: LoadChange): Promise<void>;
  stop(): Promise<void>;
  reset(): Promise<void>;
}

/** What this page knows of the process that runs tests, kept up to date while the page is looked at. */
export class Session implements Listener {
  readonly server: Server;
  readonly known = signal<State | null>(null);
  /** Changes once in a frame at most, and not at all while nobody sees the page. */
  readonly seen = signal<Seen>(NOTHING);
  /** Why nothing is known yet; "" while nobody has been asked in vain. */
  readonly problem = signal("");
  readonly link: Link;
  readonly charts: ChartFeed;

  private first: Promise<State> | null = null;
  private latest = NOTHING;
  private endpoint: string | null = null;
  private frame = 0;

  constructor(server: Server) {
    this.server = server;
    this.link = new Link({ ask: () => this.ask(), open: (endpoint) => server.stream(endpoint) }, this);
    this.charts = new ChartFeed((endpoint) => server.charts(endpoint));
  }

  /** Learns where the page is; tries again until it has an answer. */
  async begin(): Promise<void> {
    this.first = this.server.state();
    try {
      this.known.value = await this.first;
      this.problem.value = "";
    } catch (error) {
      this.problem.value = sayOf(error);
      setTimeout(() => void this.begin(), AGAIN);
    }
    setTimeout(() => (this.first = null), FRESH);
  }

  /** What can be started may have changed: a locustfile was edited. */
  async refresh(): Promise<void> {
    this.known.value = await this.server.state();
  }

  /** Resolves when the run is seen, or when it should long have been. */
  async start(request: RunRequest): Promise<void> {
    const before = this.latest.test?.number;
    await this.server.start(request);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, START_PATIENCE);
      const stop = this.seen.subscribe((seen) => seen.test && seen.test.number !== before && done());
      function done(): void {
        clearTimeout(timer);
        queueMicrotask(() => stop());
        resolve();
      }
    });
  }

  /** Whose charts are shown; null is all endpoints together. */
  select(endpoint: string | null): void {
    if (endpoint === this.endpoint) return;
    this.endpoint = endpoint;
    this.charts.select(endpoint);
    this.link.listen(endpoint);
  }

  state(state: State): void {
    const before = this.known.peek();
    this.known.value = state;
    if (before && before.version !== state.version) location.reload();
    this.latest = { ...this.latest, sequence: null };
    void this.fetchLog();
  }

  moment(moment: LiveUpdate): boolean {
    const next = after(this.latest, moment);
    if (!next) return false;
    this.latest = next;
    this.charts.take(moment);
    this.plan();
    return true;
  }

  isBusy(): boolean {
    return isMeasuring(this.latest.test);
  }

  /** The first answer serves two who ask for it at once. */
  private ask(): Promise<State> {
    const first = this.first;
    this.first = null;
    return first ?? this.server.state();
  }

  /** Browsers give no frames to a page that is not seen: then nothing is drawn. */
  private plan(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.seen.value = this.latest;
    });
  }

  private async fetchLog(): Promise<void> {
    const lines = await this.server.log().catch(() => []);
    this.latest = { ...this.latest, log: logAfter(this.latest.log, lines) };
    this.plan();
  }
}
