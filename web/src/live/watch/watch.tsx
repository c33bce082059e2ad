import type { JSX } from "preact";
import type { Form, Test } from "../../contract";
import { clock, seconds } from "../../shared";
import type { Connection } from "../link";
import type { Seen } from "../moments";
import type { Session } from "../session";
import { isUnfinished, isMeasuring, wordOf } from "../status";
import { Actions } from "./actions";
import { FigureList } from "./figure_list";
import { figuresOf } from "./figures";
import { HeadlineCards } from "./headline";
import { WatchTabs, isOverview } from "./watch_tabs";

interface Props {
  session: Session;
  seen: Seen;
  test: Test;
  form: Form | null;
  another: string | null;
}

/** A run in progress, or one that has ended. */
export function Watch({ session, seen, test, form, another }: Props): JSX.Element {
  const { state } = session.link.connection.value;
  const title = test.title || "Run";
  return (
    <div class={state === "lost" ? "stale" : undefined}>
      <div class="run-head">
        <div class="run-title">
          <h1 tabIndex={-1} title={title}>
            {title}
          </h1>
          <StateLine test={test} connection={state} />
        </div>
        <Actions key={test.number} session={session} test={test} form={form} another={another} />
      </div>
      <Progress test={test} />
      {test.message && <Outcome test={test} />}
      <FigureList figures={figuresOf(test, seen.total)} />
      <HeadlineCards headline={seen.headline} hasNumbers={seen.total !== null} isFolded={!isOverview()} />
      <WatchTabs session={session} seen={seen} test={test} />
    </div>
  );
}

function StateLine({ test, connection }: { test: Test; connection: Connection["state"] }): JSX.Element {
  const word = wordOf(test.status, connection);
  const left = test.left === null ? "until it is stopped" : `${clock(test.left)} left`;
  return (
    <p class="state-line">
      <strong class={`state ${word.tone}`}>{word.text}</strong>
      {isMeasuring(test) && connection !== "ended" && (
        <span>
          {clock(test.elapsed)} · {left}
        </span>
      )}
      {!isUnfinished(test) && test.started !== null && <span>after {seconds(test.elapsed)}</span>}
      {test.warmup > 0 && test.elapsed >= test.warmup && <span>the first {seconds(test.warmup)} are left out</span>}
    </p>
  );
}

/** The progress. Shows the warm-up, which is excluded from the numbers. */
function Progress({ test }: { test: Test }): JSX.Element | null {
  if (!isMeasuring(test)) return null;
  const whole = test.left === null ? null : test.elapsed + test.left;
  const isWarming = test.elapsed < test.warmup;
  return (
    <>
      {whole !== null && (
        <progress class={isWarming ? "run-progress warming" : "run-progress"} max={whole} value={test.elapsed}>
          {clock(test.elapsed)} of {clock(whole)}
        </progress>
      )}
      {isWarming && (
        <p class="soft">
          Warm-up for {seconds(Math.ceil(test.warmup - test.elapsed))} more: in no number and no judgement.
        </p>
      )}
    </>
  );
}

/** The result. Exit codes: 0 is success; 3 means that the run measured the generator and not the target. */
function Outcome({ test }: { test: Test }): JSX.Element {
  const isBad = test.status === "failed" || (test.exit_code !== null && test.exit_code !== 0);
  return (
    <div class={isBad ? "outcome bad" : "outcome"}>
      <p>{test.message}</p>
      {test.exit_code !== null && <p class="soft">Exit code {test.exit_code}</p>}
    </div>
  );
}
