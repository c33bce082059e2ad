import { signal } from "@preact/signals";
import type { LiveUpdate, State } from "../contract";

/** Times are Unix ms. */
export type Connection =
  | { state: "connecting" }
  | { state: "open" }
  /** since: when the last news came. again: when the next attempt is made. */
  | { state: "lost"; since: number; again: number }
  /** The process has said that it ends. */
  | { state: "ended" };

/** What the link needs of the world around it. */
export interface World {
  /** Asks for the state anew; rejects when there is no answer. */
  ask(): Promise<State>;
  /** endpoint: as its key; null is all of them together. */
  open(endpoint: string | null): EventSource;
}

/** Who is told what comes along it. */
export interface Listener {
  state(state: State): void;
  /** false: this does not go on from what was there, and all must be told anew. */
  moment(moment: LiveUpdate): boolean;
  /** News are due every second now. */
  isBusy(): boolean;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;
/** ms without news, when they are due every second, after which the connection counts as lost. */
const SILENCE = 6000;
/** So many in a row are made good at once. */
const GAPS = 3;

/** The connection to the process that runs tests. It is made again until somebody ends it. */
export class Link {
  readonly connection = signal<Connection>({ state: "connecting" });

  private readonly world: World;
  private readonly listener: Listener;
  private source: EventSource | null = null;
  private endpoint: string | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watch: ReturnType<typeof setTimeout> | undefined;
  private news = Date.now();
  private turn = 0;
  private tries = 0;
  private gaps = 0;

  constructor(world: World, listener: Listener) {
    this.world = world;
    this.listener = listener;
  }

  /** Connects; whatever there was before is cut. */
  async connect(): Promise<void> {
    const turn = ++this.turn;
    this.cut();
    try {
      const state = await this.world.ask();
      if (turn !== this.turn) return;
      this.listener.state(state);
      this.follow(turn);
    } catch {
      if (turn === this.turn) this.lose();
    }
  }

  /** From now on the moments have the charts of another endpoint. */
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
    const source = this.world.open(this.endpoint);
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
      if (this.gaps > GAPS) this.lose();
      else void this.connect();
      return;
    }
    if (this.connection.peek().state === "open") this.gaps = 0;
    else this.connection.value = { state: "open" };
    this.tries = 0;
    this.expect();
  }

  /** A process that stands still, or a cable that was pulled, closes no connection. */
  private expect(): void {
    clearTimeout(this.watch);
    if (!this.listener.isBusy()) return;
    this.watch = setTimeout(() => this.lose(), SILENCE);
  }

  private lose(): void {
    this.turn++;
    this.cut();
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.tries);
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
