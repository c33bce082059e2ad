import { Component, type JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogLine } from "../../contract";
import { count, timeOfDay } from "../../shared";
import { LEVELS, chosen, weightOf, type Level } from "./log_lines";

/** Distance from the end in px that still counts as the end. */
const NEAR_END_PX = 24;

/** The log of the coordinator and its workers. Scrolls with new lines until the reader scrolls up. */
export function Log({ lines }: { lines: readonly LogLine[] }): JSX.Element {
  const [level, setLevel] = useState<Level>("DEBUG");
  const [words, setWords] = useState("");
  const shown = useMemo(() => chosen(lines, level, words), [lines, level, words]);
  const box = useRef<HTMLDivElement>(null);
  const [pausedAt, setPausedAt] = useState<LogLine | null>(null);
  const isPaused = pausedAt !== null;
  const toEnd = () => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (!isPaused) toEnd();
  }, [shown, isPaused]);
  const onScroll = () => {
    const at = box.current;
    if (!at) return;
    const isAtEnd = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_END_PX;
    if (isAtEnd) setPausedAt(null);
    else if (!isPaused) setPausedAt(shown.at(-1) ?? null);
  };
  const missed = pausedAt ? shown.length - 1 - shown.lastIndexOf(pausedAt) : 0;
  return (
    <>
      <div class="tools">
        <label>
          Level{" "}
          <select value={level} onChange={(event) => setLevel(event.currentTarget.value as Level)}>
            {LEVELS.map((each) => (
              <option key={each} value={each}>
                {each === "DEBUG" ? "all" : each === "ERROR" ? "ERROR" : `${each} and worse`}
              </option>
            ))}
          </select>
        </label>
        <label>
          Filter <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <output class="soft">
          {count(shown.length)} of {count(lines.length)} lines
        </output>
        {isPaused && (
          <button type="button" onClick={() => setPausedAt(null)}>
            {missed > 0 ? `Follow: ${count(missed)} new` : "Follow"}
          </button>
        )}
      </div>
      <div class="log" role="log" aria-live="off" aria-label="Log" tabIndex={0} ref={box} onScroll={onScroll}>
        {shown.map((each) => (
          <Line key={numberOf(each)} line={each} />
        ))}
        {!shown.length && <p class="soft">{lines.length ? "No line is like that." : "Nothing has been logged yet."}</p>}
      </div>
    </>
  );
}

/** A line never changes, so it renders once. */
class Line extends Component<{ line: LogLine }> {
  override shouldComponentUpdate(next: { line: LogLine }): boolean {
    return next.line !== this.props.line;
  }

  override render({ line }: { line: LogLine }): JSX.Element {
    const weight = weightOf(line.level);
    return (
      <div class={weight >= 3 ? "log-line error" : weight === 2 ? "log-line warning" : "log-line"}>
        <time>{timeOfDay(line.at)}</time> <span class="log-level">{line.level}</span>{" "}
        <span class="what">{line.text}</span>
      </div>
    );
  }
}

const numbers = new WeakMap<LogLine, number>();
let latest = 0;

/** A line keeps its element when earlier lines are dropped. */
function numberOf(line: LogLine): number {
  let number = numbers.get(line);
  if (number === undefined) numbers.set(line, (number = ++latest));
  return number;
}
