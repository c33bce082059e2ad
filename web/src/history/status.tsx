import type { Status } from "../shared";

/** What it looks like, so that it is told without its colour. */
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

/** Whether its numbers still grow. */
export function goesOn(status: Status): boolean {
  return GOES_ON.has(status);
}

export function StatusWord({ status }: { status: Status }) {
  const tone = goesOn(status) ? "busy" : status === "failed" || status === "interrupted" ? "bad" : "open";
  return (
    <span class={`is-at ${tone}`}>
      {SHAPES[status] && <span aria-hidden="true">{SHAPES[status]} </span>}
      {status}
    </span>
  );
}
