import { signal } from "@preact/signals";
import type { LiveUpdate, State } from "../contract";

/** Times are Unix ms. */
export type Connection =
  | { state: "connecting" }
  | { state: "open" }
  /** since: when the last update arrived. again: when the next attempt starts. */
  | { state: "lost"; since: number; again: number }
  /** The process has announced its end. */
  | { state: "ended" };

/** Requests that the link sends. */
export interface Requests {
  /** Fetches the state. Rejects if there is no response. */
  ask(): Promise<State>;
  /** Opens the stream of updates. endpoint: its key; null is all endpoints together. */
  open(endpoint: string | null): EventSource;
}

/** Receives the data of a link. */
export interface Listener {
  state(state: State): void;
  /** Returns false if the update does not follow the last one: the link then reconnects for a whole update. */
  moment(moment: LiveUpdate): boolean;
  /** Whether updates are due every second now. */
  isBusy(): boolean;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** ms without an update after which the connection counts as lost, while updates are due every second. */
const SILENCE_MS = 6000;
/** This many gaps in a row reconnect at once. Further gaps wait. */
const MAX_GAPS = 3;

/** The connection to the process that runs tests. Reconnects until end() is called. */
export class Link {
  readonly connection = signal<Connection>({ state: "connecting" });

  private readonly requests: Requests;
  private readonly listener: Listener;
  private source: EventSource | null = null;
  private endpoint: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setTimeout> | undefined;
  private news = Date.now();
  private turn = 0;
  private tries = 0;
  private gaps = 0;

  constructor(requests: Requests, listener: Listener) {
    this.requests = requests;
    this.listener = listener;
  }

  /** Closes the old connection and opens a new one. */
  async connect(): Promise<void> {
    const turn = ++this.turn;
    this.cut();
    try {
      const state = await this.requests.ask();
      if (turn !== this.turn) return;
      this.listener.state(state);
      this.follow(turn);
    } catch {
      if (turn === this.turn) this.lose();
    }
  }

  /** Reconnects for the charts of another endpoint. */
  listen(endpoint: string | null): void {
    if (endpoint === this.endpoint) return;
    this.endpoint = endpoint;
    if (this.source) void this.connect();
  }

  end(): void {
    this.turn++;
    this.cut();
  }

  private follow(turn: number): void {
    const source = this.requests.open(this.endpoint);
    this.source = source;
    const mine = (then: (event: Event) => void) => (event: Event) => turn === this.turn && then(event);
    source.addEventListener(
      "moment",
      mine((event) => this.take((event as MessageEvent<string>).data)),
    );
    source.addEventListener(
      "bye",
      mine(() => {
        this.end();
        this.connection.value = { state: "ended" };
      }),
    );
    source.addEventListener(
      "error",
      mine(() => this.lose()),
    );
  }

  private take(data: string): void {
    this.news = Date.now();
    if (!this.listener.moment(JSON.parse(data) as LiveUpdate)) {
      this.gaps++;
      if (this.gaps > MAX_GAPS) this.lose();
      else void this.connect();
      return;
    }
    if (this.connection.peek().state === "open") this.gaps = 0;
    else this.connection.value = { state: "open" };
    this.tries = 0;
    this.watchForSilence();
  }

  /** Detects silence: a stopped process or an unplugged cable does not close the connection. */
  private watchForSilence(): void {
    clearTimeout(this.watch);
    if (!this.listener.isBusy()) return;
    this.watch = setTimeout(() => this.lose(), SILENCE_MS);
  }

  private lose(): void {
    this.turn++;
    this.cut();
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.tries);
    this.tries++;
    this.connection.value = { state: "lost", since: this.news, again: Date.now() + wait };
    this.timer = setTimeout(() => void this.connect(), wait);
  }

  private cut(): void {
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    this.source?.close();
    this.source = null;
  }
}
