import { signal } from "@preact/signals";
import { ago, exactly } from "./format";

const TICK = 20_000;
const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), TICK);

/** How long ago it was; exactly when, for those who point at it. at: Unix seconds. */
export function When({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exactly(at)}>
      {ago(at, now.value / 1000)}
    </time>
  );
}
