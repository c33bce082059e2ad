import type { JSX } from "preact";
import type { Span } from "../../charts";
import type { Test } from "../../contract";
import { keep, place } from "../../shared/place";
import { isUnfinished } from "../status";

/** The part of the run that charts show: the last seconds; null: all. */
const SPANS: readonly { name: string; text: string; seconds: number | null }[] = [
  { name: "1m", text: "1 min", seconds: 60 },
  { name: "5m", text: "5 min", seconds: 300 },
  { name: "all", text: "All", seconds: null },
];
/** Address parameter. */
const SPAN = "span";
/** Minimum length of the axis in seconds. */
const LEAST = 10;
/** Maximum length of the axis, as a multiple of the data, for a run whose end is known. */
const ROOM = 1.5;

/** The seconds of the run to show. end: the last second in the charts. wanted: from the address. */
export function spanOf(test: Test | null, end: number, wanted: string | null): Span {
  const seconds = SPANS.find((each) => each.name === wanted)?.seconds ?? null;
  if (seconds !== null && end > seconds) return { from: end - seconds, until: end };
  if (!test || !isUnfinished(test)) return { from: 0, until: Math.max(end, 1) };
  if (test.left === null) return { from: 0, until: Math.max(LEAST, end) };
  const room = Math.max(LEAST, ROOM * end);
  return { from: 0, until: Math.max(end, Math.min(test.elapsed + test.left, room)) };
}

/** The span in the address. */
export function wantedSpan(): string {
  return place.value.params.get(SPAN) ?? "all";
}

export function SpanChoice(): JSX.Element {
  const wanted = wantedSpan();
  return (
    <div class="spans" role="group" aria-label="Time that the charts show">
      {SPANS.map(({ name, text }) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === wanted}
          onClick={() => keep({ [SPAN]: name === "all" ? null : name })}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
