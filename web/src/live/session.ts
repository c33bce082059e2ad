import { signal } from "@preact/signals";
import type {
  LoadChange, LoadCurve, ExceptionItem, FailureItem, LiveCharts, LogLine, LiveUpdate, ProofItem, RunRequest,
  ScenarioChoice, ScenarioItem, State, TaskRatio,
} from "../contract"; // prettier-ignore
import { ChartFeed } from "./feed";
import { Link, type Listener } from "./link";
import { NOTHING, after, logAfter, type Seen } from "./moments";
import { isMeasuring } from "./status";
import { errorText } from "../shared";

/** ms until a failed request is sent again. */
const RETRY_MS = 2000;
/** ms during which a response counts as new. */
const FRESH_MS = 1000;
/** Maximum ms between the acceptance of a run and its first update. */
const START_TIMEOUT_MS = 10_000;

/** The requests of the live page. Each rejects with an Error that states the reason. */
/** A file, or a pasted text, whose name is "". */
export interface NamedContent {
  name: string;
  content: Blob;
}

export interface Server {
  state(): Promise<State>;
  stream(endpoint: string | null): EventSource;
  charts(endpoint: string | null): Promise<LiveCharts>;
  log(): Promise<readonly LogLine[]>;
  failures(): Promise<readonly FailureItem[]>;
  exceptions(): Promise<readonly ExceptionItem[]>;
  tasks(): Promise<readonly TaskRatio[]>;
  /** Rejects with the errors in the request. Starts nothing. */
  check(request: RunRequest): Promise<void>;
  /** The load that the request asks for; without levels for one that cannot be read. */
  curve(request: RunRequest): Promise<LoadCurve>;
  start(request: RunRequest): Promise<void>;
  /** Makes a plan of a file, or of two recordings of the same flow. variables: as NAME=VALUE. */
  takeScenario(files: readonly NamedContent[], variables: readonly string[]): Promise<ScenarioItem>;
  /** Replays a scenario; resolves when that is over. */
  proveScenario(choice: ScenarioChoice): Promise<ProofItem>;
  /** The next runs are of this scenario, or of the source of the command line. */
  useScenario(choice: ScenarioChoice): Promise<void>;
  change(change: LoadChange): Promise<void>;
  stop(): Promise<void>;
  reset(): Promise<void>;
}

/** The state of the process that runs tests, up to date while the page is visible. */
export class Session implements Listener {
  readonly server: Server;
  readonly known = signal<State | null>(null);
  /** Changes at most once per frame, and not while the page is hidden. */
  readonly seen = signal<Seen>(NOTHING);
  /** Why the state is unknown; "" unless a request has failed. */
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

  /** Fetches the state. Retries until it gets a response. */
  async begin(): Promise<void> {
    this.first = this.server.state();
    try {
      this.known.value = await this.first;
      this.problem.value = "";
    } catch (error) {
      this.problem.value = errorText(error);
      setTimeout(() => void this.begin(), RETRY_MS);
    }
    setTimeout(() => (this.first = null), FRESH_MS);
  }

  /** Fetches the state again: a locustfile may have changed. */
  async refresh(): Promise<void> {
    this.known.value = await this.server.state();
  }

  /** Resolves when the run appears, or after a timeout. */
  async start(request: RunRequest): Promise<void> {
    const before = this.latest.test?.number;
    await this.server.start(request);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, START_TIMEOUT_MS);
      const stop = this.seen.subscribe((seen) => seen.test && seen.test.number !== before && done());
      function done(): void {
        clearTimeout(timer);
        queueMicrotask(() => stop());
        resolve();
      }
    });
  }

  /** Selects whose charts are shown; null is all endpoints together. */
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

  /** Two early callers share the first response. */
  private ask(): Promise<State> {
    const first = this.first;
    this.first = null;
    return first ?? this.server.state();
  }

  /** Updates once per frame. A hidden page gets no frames, so it draws nothing. */
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
