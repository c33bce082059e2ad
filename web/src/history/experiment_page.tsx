import { useEffect, useRef } from "preact/hooks";
import { DocumentView } from "../blocks";
import type { ExperimentItem, Label, Matrix, ReportDocument } from "../contract";
import { compareAddress } from "./addresses";
import { experimentPath, labelExperiment, pagePath, reportPath } from "./api";
import { Downloads } from "./downloads";
import { isRunning } from "./experiments_page";
import { LabelEditor } from "./label_editor";
import { MatrixTable } from "./matrix_table";
import { Trouble, Waiting } from "./notices";
import { Picker } from "./picker";
import { useResource } from "./resource";
import { StatesBar } from "./states_bar";
import { When } from "../shared";

/** Interval in ms between requests for a running experiment. */
const POLL_MS = 3_000;

/** An experiment: its answer, its cells, then the report. */
export function ExperimentPage({ name }: { name: string }) {
  const matrix = useResource<Matrix>(experimentPath(name), {
    again: (found) => (isRunning(found.experiment) ? POLL_MS : null),
  });
  const hasPage = matrix.data?.has_page === true;
  const page = useResource<ReportDocument>(hasPage ? pagePath([name]) : null);
  useReloadWith(matrix.data === null ? null : over(matrix.data.experiment), page.reload);
  const save = async (label: Label): Promise<void> => {
    const experiment = await labelExperiment(name, label);
    matrix.put((was) => ({ ...was, experiment }));
  };
  const cells = matrix.data !== null && matrix.data.cells.length > 0 && (
    <section class="cells" aria-label="Cells">
      <h2>Variants × levels</h2>
      <MatrixTable matrix={matrix.data} />
    </section>
  );
  return (
    <div class="history">
      <h1 tabIndex={-1}>{name}</h1>
      {matrix.error && <Trouble error={matrix.error} again={matrix.reload} />}
      {matrix.data === null && !matrix.error && <Waiting>Reading the experiment…</Waiting>}
      {matrix.data !== null && <Head experiment={matrix.data.experiment} hasPage={hasPage} save={save} />}
      {page.data === null && cells}
      {matrix.data !== null && !hasPage && (
        <p class="soft">Nothing was measured yet: the report stands here once the first cell is over.</p>
      )}
      {page.error && <Trouble error={page.error} again={page.reload} />}
      {hasPage && page.data === null && !page.error && <Waiting>Comparing the variants…</Waiting>}
      {page.data !== null && <DocumentView document={page.data} hasTitle={false} below={cells || undefined} />}
    </div>
  );
}

interface HeadProps {
  experiment: ExperimentItem;
  hasPage: boolean;
  save: (label: Label) => Promise<void>;
}

function Head({ experiment, hasPage, save }: HeadProps) {
  const { name, question, status, cells } = experiment;
  return (
    <div class="about-experiment">
      {question && <p class="question">{question}</p>}
      <div class="how">
        {experiment.is_imported ? "imported study" : <StatesBar cells={cells} />}{" "}
        <span class="soft">
          {!experiment.is_imported && `${status} · `}
          {experiment.is_aa && "A/A: both variants are the same, what differs is noise · "}
          {experiment.is_imported ? "" : "begun "}
          <When at={experiment.created} />
        </span>
      </div>
      <LabelEditor of={`experiment ${name}`} label={experiment} save={save} />
      {hasPage && (
        <div class="run-actions">
          <Picker
            title="Compare with…"
            without={[name]}
            address={(other) => compareAddress([name, other.ref])}
            hasExperiments
          />
          <Downloads address={(format) => reportPath([name], format)} />
        </div>
      )}
    </div>
  );
}

/** Number of finished cells. The report changes with it. */
function over({ cells }: ExperimentItem): number {
  const entries = Object.entries(cells).filter(([state]) => state !== "pending" && state !== "running");
  return entries.reduce((sum, [, count]) => sum + count, 0);
}

/** Reloads when the number changes; not for the first value. */
function useReloadWith(value: number | null, reload: () => void): void {
  const before = useRef<number | null>(null);
  useEffect(() => {
    if (before.current !== null && value !== null && before.current !== value) reload();
    before.current = value ?? before.current;
  }, [value, reload]);
}
