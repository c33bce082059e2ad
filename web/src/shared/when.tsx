import { signal } from "@preact/signals";
import { ago, dateTime } from "./format";

const TICK = 20_000;
const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), TICK);

/** The time since a moment. The tooltip has the exact time. at: Unix seconds. */
export function When({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={dateTime(at)}>
      {ago(at, now.value / 1000)}
    </time>
  );
}
