import type { Label, RunItem, Summary } from "../contract";
import { experimentAddress, runAddress } from "./addresses";
import { LabelEditor } from "./label_editor";
import { StatusWord } from "./status";
import { NONE, When, count, markOf, milliseconds, rate, shareOf } from "../shared";

interface Props {
  runs: readonly RunItem[];
  chosen: readonly RunItem[];
  choose: (run: RunItem, isChosen: boolean) => void;
  save: (id: string, label: Label) => Promise<void>;
}

const FIGURES = ["Requests", "Rate /s", "Failures", "Unanswered", "p50 ms", "p99 ms"];

export function RunRows({ runs, chosen, choose, save }: Props) {
  const ids = new Set(chosen.map((run) => run.id));
  return (
    <div class="run-rows">
      <div class="run-row heads" aria-hidden="true">
        <span class="begun">Begun</span>
        <span class="what">Run</span>
        <span class="standing">Status</span>
        <span class="run-figures">
          {FIGURES.map((title) => (
            <span key={title}>{title}</span>
          ))}
        </span>
      </div>
      <ol class="plain-list" aria-label="Runs">
        {runs.map((run) => (
          <RunRow
            key={run.id}
            run={run}
            isChosen={ids.has(run.id)}
            choose={(isChosen) => choose(run, isChosen)}
            save={(label) => save(run.id, label)}
          />
        ))}
      </ol>
    </div>
  );
}

interface RowProps {
  run: RunItem;
  isChosen: boolean;
  choose: (isChosen: boolean) => void;
  save: (label: Label) => Promise<void>;
}

function RunRow({ run, isChosen, choose, save }: RowProps) {
  const name = run.name || run.id;
  const isVoid = run.summary !== null && !run.summary.is_valid;
  return (
    <li class={`run-row${isChosen ? " picked" : ""}`}>
      <span class="pick">
        <input
          type="checkbox"
          aria-label={`Choose run ${run.id} to compare`}
          checked={isChosen}
          onChange={(event) => choose(event.currentTarget.checked)}
        />
      </span>
      <span class="begun">
        <When at={run.started} />
        <span class="id">{run.id}</span>
      </span>
      <div class="what">
        <a class="item-name" href={runAddress(run.id)} title={name}>
          {name}
        </a>
        <div class="about">
          <About run={run} />
          <LabelEditor of={`run ${run.id}`} label={run} save={save} linksTags />
        </div>
      </div>
      <span class="standing">
        <StatusWord status={run.status} />
        {isVoid && (
          <span class="is-at bad">
            <span aria-hidden="true">✕ </span>invalid
          </span>
        )}
      </span>
      <Figures summary={run.summary} />
      {isVoid && <Reasons reasons={run.summary?.reasons ?? []} />}
    </li>
  );
}

function Figures({ summary }: { summary: Summary | null }) {
  const values = summary === null ? FIGURES.map(() => NONE) : figuresOf(summary);
  const titles = summary === null ? [] : titlesOf(summary);
  return (
    <dl class="run-figures">
      {FIGURES.map((title, place) => {
        const text = values[place];
        const isBad = title === "Failures" && summary !== null && summary.failures > 0;
        return (
          <div key={title}>
            <dt>{title}</dt>
            <dd class={isBad ? "some" : undefined} title={titles[place]}>
              {text}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function figuresOf(summary: Summary): string[] {
  const time = (name: "p50" | "p99"): string =>
    `${milliseconds(summary[name], summary.at_least.includes(name))}${markOf(summary.shares[name])}`;
  return [
    count(summary.requests),
    rate(summary.rate),
    count(summary.failures),
    count(summary.unanswered),
    time("p50"),
    time("p99"),
  ];
}

function titlesOf(summary: Summary): (string | undefined)[] {
  return [undefined, undefined, undefined, undefined, shareOf(summary.shares.p50), shareOf(summary.shares.p99)];
}

function About({ run }: { run: RunItem }) {
  const parts = [
    run.load,
    run.host,
    run.commit && `commit ${run.commit.slice(0, 10)}`,
    run.experiment && (
      <>
        experiment <a href={experimentAddress(run.experiment)}>{run.experiment}</a>
      </>
    ),
  ].filter(Boolean);
  return (
    <span class="parts">
      {parts.map((part, place) => (
        <span key={place} class="part">
          {part}
          {place < parts.length - 1 && " · "}
        </span>
      ))}
    </span>
  );
}

/** Reasons on one line. Opens to show all. */
function Reasons({ reasons }: { reasons: readonly string[] }) {
  const [first, ...others] = reasons;
  if (first === undefined) return null;
  return (
    <details class="reasons">
      <summary>
        Invalid: {first}
        {others.length > 0 && ` (and ${others.length} more)`}
      </summary>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </details>
  );
}
