import { DocumentView } from "../blocks";
import type { Label, ReportDocument, RunItem } from "../contract";
import { compareAddress, experimentAddress } from "./addresses";
import { downloadPath, labelRun, pagePath, runPath } from "./api";
import { Downloads } from "./downloads";
import { LabelEditor } from "./label_editor";
import { Neighbours } from "./neighbours";
import { Trouble, Waiting } from "./notices";
import { ofRun, Picker } from "./picker";
import { useResource } from "./resource";
import { isUnfinished } from "./status";
import { useTitle } from "./title";

/** Interval in ms between requests for a run in progress. */
const POLL_MS = 3_000;

/** One run: its report and its labels. id may be the start of an id, or "last". */
export function RunPage({ id }: { id: string }) {
  const page = useResource<ReportDocument>(pagePath([id]), { again: (found) => (found.is_growing ? POLL_MS : null) });
  const run = useResource<RunItem>(runPath(id), { again: (found) => (isUnfinished(found.status) ? POLL_MS : null) });
  const title = [run.data?.title, page.data?.title, `Run ${id}`].find(Boolean) ?? "";
  useTitle(title);
  const save = async (label: Label): Promise<void> => {
    const item = await labelRun(run.data?.id ?? id, label);
    run.put(() => item);
  };
  return (
    <div class="history">
      <h1 tabIndex={-1}>{title}</h1>
      {run.data !== null && <About run={run.data} save={save} />}
      {page.error && <Trouble error={page.error} again={page.reload} />}
      {run.error && run.error !== page.error && <Trouble error={run.error} again={run.reload} />}
      {page.data === null && !page.error && <Waiting>Reading the run…</Waiting>}
      {page.data?.lines.map((line) => (
        <p class="soft" key={line}>
          {line}
        </p>
      ))}
      {page.data !== null && <DocumentView document={page.data} hasTitle={false} />}
    </div>
  );
}

function About({ run, save }: { run: RunItem; save: (label: Label) => Promise<void> }) {
  return (
    <div class="about-run">
      <div class="run-actions">
        <Picker
          title="Compare with…"
          without={[run.id]}
          address={(other) => compareAddress(inTime([ofRun(run), other]))}
        />
        <Downloads address={(format) => downloadPath(run.id, format)} isRun />
        {run.experiment && (
          <span>
            Cell of experiment <a href={experimentAddress(run.experiment)}>{run.experiment}</a>
          </span>
        )}
        {run.series && <Neighbours run={run} />}
      </div>
      <LabelEditor of={`run ${run.id}`} label={run} save={save} linksTags />
    </div>
  );
}

/** Sorted by time: the later run is compared with the earlier one. */
function inTime(candidates: readonly { ref: string; at: number }[]): string[] {
  return [...candidates].sort((a, b) => a.at - b.at).map((each) => each.ref);
}
