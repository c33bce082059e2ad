import type { ExperimentItem, Label } from "../contract";
import { experimentAddress } from "./addresses";
import { EXPERIMENTS_PATH, labelExperiment } from "./api";
import { LabelEditor } from "./label_editor";
import { Nothing, Trouble, Waiting } from "./notices";
import { useResource } from "./resource";
import { StatesBar } from "./states_bar";
import { When } from "../shared";

const BUSY = 3_000;
const IDLE = 8_000;

interface Answer {
  experiments: ExperimentItem[];
}

/** Experiments and imported studies. */
export function ExperimentsPage() {
  const { data, error, reload, put } = useResource<Answer>(EXPERIMENTS_PATH, {
    again: (found) => (found.experiments.some(isRunning) ? BUSY : IDLE),
  });
  const save = async (name: string, label: Label): Promise<void> => {
    const item = await labelExperiment(name, label);
    put((was) => ({ experiments: was.experiments.map((each) => (each.name === name ? item : each)) }));
  };
  return (
    <div class="history">
      <h1 tabIndex={-1}>Experiments</h1>
      {error && <Trouble error={error} again={reload} />}
      {data === null && !error && <Waiting>Looking for experiments…</Waiting>}
      {data?.experiments.length === 0 && <NoExperiments />}
      {data !== null && data.experiments.length > 0 && (
        <ol class="plain-list experiments" aria-label="Experiments">
          {data.experiments.map((each) => (
            <Row key={each.name} experiment={each} save={(label) => save(each.name, label)} />
          ))}
        </ol>
      )}
    </div>
  );
}

/** Whether the experiment is running. */
export function isRunning(experiment: ExperimentItem): boolean {
  return experiment.status === "running";
}

function Row({ experiment, save }: { experiment: ExperimentItem; save: (label: Label) => Promise<void> }) {
  const { name, question, cells, runs } = experiment;
  const count = `${String(runs)} ${runs === 1 ? "run" : "runs"}`;
  return (
    <li>
      <div class="what">
        <a class="item-name" href={experimentAddress(name)}>
          {name}
        </a>
        {question && <p>{question}</p>}
        <LabelEditor of={`experiment ${name}`} label={experiment} save={save} />
      </div>
      <div class="how">
        {experiment.is_imported ? <span>imported, {count}</span> : <StatesBar cells={cells} />}
        <span class="soft">
          {!experiment.is_imported && `${experiment.status}, ${count} · `}
          {experiment.is_aa && "A/A: both variants are the same · "}
          {experiment.is_imported ? "" : "begun "}
          <When at={experiment.created} />
        </span>
      </div>
    </li>
  );
}

function NoExperiments() {
  return (
    <Nothing title="No experiments yet">
      <p>
        An experiment runs several versions of a service at several levels of load, several times each, and says which
        differences are certain. It is described by a file:
      </p>
      <pre>plimsoll experiment experiment.toml</pre>
      <p>Results of other tools, and tables of published reports, are listed here too once they were read:</p>
      <pre>plimsoll import results_stats.csv --users 50</pre>
    </Nothing>
  );
}
