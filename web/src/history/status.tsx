import type { Status } from "../shared";

/** The symbol of a status, so that colour is not the only sign. */
const SHAPES: Record<Status, string> = {
  preparing: "◐",
  spawning: "◐",
  running: "◐",
  stopping: "◐",
  finished: "",
  stopped: "■",
  failed: "▲",
  interrupted: "▲",
  damaged: "▲",
};

const GOES_ON: ReadonlySet<Status> = new Set<Status>(["preparing", "spawning", "running", "stopping"]);

const BAD: ReadonlySet<Status> = new Set<Status>(["failed", "interrupted", "damaged"]);

/** Whether the numbers still grow. */
export function isUnfinished(status: Status): boolean {
  return GOES_ON.has(status);
}

export function StatusWord({ status }: { status: Status }) {
  const tone = isUnfinished(status) ? "busy" : BAD.has(status) ? "bad" : "open";
  return (
    <span class={`is-at ${tone}`}>
      {SHAPES[status] && <span aria-hidden="true">{SHAPES[status]} </span>}
      {status}
    </span>
  );
}
