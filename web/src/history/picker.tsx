import { useState } from "preact/hooks";
import type { ExperimentItem, RunItem, RunList } from "../contract";
import { EXPERIMENTS_PATH, runsPath } from "./api";
import { Dropdown } from "../blocks";
import { Trouble, Waiting } from "./notices";
import { useResource } from "./resource";
import { SearchField } from "./run_filters";
import { When } from "../shared";

/** A run, an experiment or an imported study that can be compared. */
export interface Candidate {
  ref: string;
  name: string;
  about: string;
  /** Unix seconds. */
  at: number;
}

interface Props {
  title: string;
  /** Refs to leave out. */
  without: readonly string[];
  /** The address that a candidate links to. */
  address: (candidate: Candidate) => string;
  hasExperiments?: boolean;
}

const MOST = 8;

/** A search over the runs. Its title opens it; each match is a link. */
export function Picker({ title, without, address, hasExperiments = false }: Props) {
  return (
    <Dropdown title={title}>
      {(close) => <Found without={without} address={address} hasExperiments={hasExperiments} close={close} />}
    </Dropdown>
  );
}

type FoundProps = Required<Omit<Props, "title">> & { close: () => void };

function Found({ without, address, hasExperiments, close }: FoundProps) {
  const [search, setSearch] = useState("");
  const runs = useResource<RunList>(runsPath({ search, limit: MOST + without.length }), { keeps: true });
  const experiments = useResource<{ experiments: ExperimentItem[] }>(hasExperiments ? EXPERIMENTS_PATH : null);
  const error = runs.error || experiments.error;
  const candidates = [
    ...matching(experiments.data?.experiments ?? [], search).map(ofExperiment),
    ...(runs.data?.runs ?? []).map(ofRun),
  ].filter((each) => !without.includes(each.ref));
  return (
    <div class="found">
      <SearchField label="Search runs to compare with" value={search} onSearch={setSearch} />
      {error && <Trouble error={error} again={runs.reload} />}
      {runs.data === null && !error && <Waiting>Looking for runs…</Waiting>}
      {runs.data !== null && candidates.length === 0 && <p class="soft">Nothing else matches.</p>}
      <ul class="plain-list" aria-label="Found">
        {candidates.slice(0, MOST).map((each) => (
          <li key={each.ref}>
            <a href={address(each)} onClick={close}>
              {each.name}
            </a>
            <span class="soft">
              {each.about} · <When at={each.at} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The experiments that contain every word of the search. */
function matching(experiments: readonly ExperimentItem[], search: string): ExperimentItem[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return experiments.filter((each) => {
    const text = [each.name, each.question, each.note, ...each.tags].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function ofRun(run: RunItem): Candidate {
  return {
    ref: run.id,
    name: run.name || run.id,
    about: [run.id, run.load].filter(Boolean).join(" · "),
    at: run.started,
  };
}

function ofExperiment(experiment: ExperimentItem): Candidate {
  const kind = experiment.is_imported ? "imported study" : "experiment";
  return { ref: experiment.name, name: experiment.name, about: kind, at: experiment.created };
}
