import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LiveUpdate, State } from "../../src/contract";
import { Link } from "../../src/live/link";
import { momentOf, stateOf } from "./examples";

/** A stream that a test sends events through. */
class Wire extends EventTarget {
  isClosed = false;

  constructor(readonly endpoint: string | null) {
    super();
  }

  close(): void {
    this.isClosed = true;
  }

  says(moment: Partial<LiveUpdate>): void {
    this.dispatchEvent(new MessageEvent("moment", { data: JSON.stringify(momentOf(moment)) }));
  }
}

class Stage {
  readonly wires: Wire[] = [];
  readonly states: State[] = [];
  asked = 0;
  answers = true;
  isBusy = true;
  accepts: (moment: LiveUpdate) => boolean = () => true;
  readonly link = new Link(
    {
      ask: () => {
        this.asked++;
        return this.answers ? Promise.resolve(stateOf()) : Promise.reject(new Error("nobody there"));
      },
      open: (endpoint) => {
        const wire = new Wire(endpoint);
        this.wires.push(wire);
        return wire as unknown as EventSource;
      },
    },
    {
      state: (state) => void this.states.push(state),
      moment: (moment) => this.accepts(moment),
      isBusy: () => this.isBusy,
    },
  );

  get wire(): Wire {
    const found = this.wires.at(-1);
    if (!found) throw new Error("no stream is open");
    return found;
  }

  get state(): string {
    return this.link.connection.value.state;
  }
}

let stage: Stage;

beforeEach(async () => {
  vi.useFakeTimers({ now: 1_000_000 });
  stage = new Stage();
  await stage.link.connect();
});

afterEach(() => {
  stage.link.end();
  vi.useRealTimers();
});

describe("the connection", () => {
  it("fetches the state first, and is open after the first update", () => {
    expect([stage.states.length, stage.state]).toEqual([1, "connecting"]);
    stage.wire.says({});
    expect(stage.state).toBe("open");
  });

  it("is lost at once after an error, with the time of the last update", () => {
    stage.wire.says({});
    vi.advanceTimersByTime(700);
    stage.wire.dispatchEvent(new Event("error"));
    expect(stage.link.connection.value).toEqual({ state: "lost", since: 1_000_000, again: 1_001_200 });
    expect(stage.wire.isClosed).toBe(true);
  });

  it("reconnects with a new state and a new stream", async () => {
    stage.wire.says({});
    stage.wire.dispatchEvent(new Event("error"));
    await vi.advanceTimersByTimeAsync(600);
    expect([stage.asked, stage.wires.length, stage.state]).toEqual([2, 2, "lost"]);
    stage.wire.says({});
    expect(stage.state).toBe("open");
  });

  it("retries at growing intervals and never stops", async () => {
    stage.wire.says({});
    stage.answers = false;
    stage.wire.dispatchEvent(new Event("error"));
    await vi.advanceTimersByTimeAsync(8000);
    const early = stage.asked;
    await vi.advanceTimersByTimeAsync(8000);
    expect(stage.asked - early).toBeLessThan(early);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stage.asked - early).toBeGreaterThanOrEqual(6);
    stage.answers = true;
    await vi.advanceTimersByTimeAsync(10_000);
    stage.wire.says({});
    expect(stage.state).toBe("open");
  });

  it("keeps the time of the last update while it is lost", async () => {
    stage.wire.says({});
    stage.answers = false;
    stage.wire.dispatchEvent(new Event("error"));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(stage.link.connection.value).toMatchObject({ state: "lost", since: 1_000_000 });
  });

  it("reconnects silently after a gap", async () => {
    stage.wire.says({});
    stage.accepts = (moment) => moment.is_whole;
    stage.wire.says({ sequence: 9 });
    expect(stage.state).toBe("open");
    await vi.advanceTimersByTimeAsync(0);
    expect([stage.wires.length, stage.wires[0]?.isClosed]).toEqual([2, true]);
    stage.wire.says({ is_whole: true });
    expect(stage.state).toBe("open");
  });

  it("is lost after several gaps in a row", async () => {
    stage.accepts = () => false;
    for (let turn = 0; turn < 4; turn++) {
      stage.wire.says({});
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(stage.state).toBe("lost");
  });

  it("is lost when an update is overdue", () => {
    stage.wire.says({});
    vi.advanceTimersByTime(5000);
    expect(stage.state).toBe("open");
    vi.advanceTimersByTime(2000);
    expect(stage.state).toBe("lost");
  });

  it("may be silent while nothing runs", () => {
    stage.isBusy = false;
    stage.wire.says({});
    vi.advanceTimersByTime(600_000);
    expect(stage.state).toBe("open");
  });

  it("has ended for good when the process says so", async () => {
    stage.wire.says({});
    stage.wire.dispatchEvent(new Event("bye"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([stage.state, stage.asked, stage.wire.isClosed]).toEqual(["ended", 1, true]);
  });

  it("opens another stream for another endpoint, and ignores the old one", async () => {
    stage.wire.says({});
    const [old] = stage.wires;
    stage.link.listen('["GET","/a"]');
    await vi.advanceTimersByTimeAsync(0);
    expect([old?.isClosed, stage.wire.endpoint]).toEqual([true, '["GET","/a"]']);
    old?.dispatchEvent(new Event("error"));
    expect(stage.state).toBe("open");
  });
});
