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
};

const GOES_ON: ReadonlySet<Status> = new Set<Status>(["preparing", "spawning", "running", "stopping"]);

/** Whether the numbers still grow. */
export function isUnfinished(status: Status): boolean {
  return GOES_ON.has(status);
}

export function StatusWord({ status }: { status: Status }) {
  const tone = isUnfinished(status) ? "busy" : status === "failed" || status === "interrupted" ? "bad" : "open";
  return (
    <span class={`is-at ${tone}`}>
      {SHAPES[status] && <span aria-hidden="true">{SHAPES[status]} </span>}
      {status}
    </span>
  );
}
