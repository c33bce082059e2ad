import { DocumentView } from "../blocks";
import type { ReportDocument, RunItem } from "../contract";
import { compareAddress, experimentAddress, runAddress } from "./addresses";
import { pagePath, reportPath, runPath } from "./api";
import { Downloads } from "./downloads";
import { Nothing, Trouble, Waiting } from "./notices";
import { Picker } from "./picker";
import { added, asFirst, distinct, moved, removed } from "./refs";
import { useTitle } from "./title";
import { useResource } from "./resource";
import { When } from "../shared";

const POLL_MS = 5_000;

/** Compares runs, experiments or imported studies with the first of them. */
export function ComparePage({ refs }: { refs: readonly string[] }) {
  const asked = distinct(refs);
  const page = useResource<ReportDocument>(asked.length > 1 ? pagePath(asked) : null, {
    again: (found) => (found.is_growing ? POLL_MS : null),
  });
  const title = page.data?.title ?? "Comparison";
  useTitle(title);
  return (
    <div class="history">
      <h1 tabIndex={-1}>{title}</h1>
      <Compared refs={asked} />
      {asked.length < 2 && (
        <Nothing title="Choose what to compare">
          <p>
            A comparison is of two or more: add them here, or tick them in the <a href="#/runs">list of runs</a>.
          </p>
        </Nothing>
      )}
      {page.error && <Trouble error={page.error} again={page.reload} />}
      {asked.length > 1 && page.data === null && !page.error && <Waiting>Comparing…</Waiting>}
      {page.data?.lines.map((line) => (
        <p class="soft" key={line}>
          {line}
        </p>
      ))}
      {asked.length > 1 && page.data !== null && <DocumentView document={page.data} hasTitle={false} />}
    </div>
  );
}

function Compared({ refs }: { refs: readonly string[] }) {
  return (
    <section class="compared" aria-label="What is compared">
      {refs.length > 0 && (
        <ol class="plain-list" aria-label="Compared">
          {refs.map((ref, place) => (
            <ComparedItem key={ref} refs={refs} place={place} />
          ))}
        </ol>
      )}
      <div class="run-actions">
        <Picker
          title={refs.length > 0 ? "Add another…" : "Choose the first…"}
          without={refs}
          address={(other) => compareAddress(added(refs, other.ref))}
          hasExperiments
        />
        {refs.length > 1 && <Downloads address={(format) => reportPath(refs, format)} />}
      </div>
    </section>
  );
}

function ComparedItem({ refs, place }: { refs: readonly string[]; place: number }) {
  const ref = refs[place] ?? "";
  const isRun = looksLikeRun(ref);
  const { data } = useResource<RunItem>(isRun ? runPath(ref) : null);
  const isFirst = place === 0;
  return (
    <li>
      <span class="what">
        <a class="item-name" href={isRun ? runAddress(ref) : experimentAddress(ref)}>
          {data?.name ?? ref}
        </a>{" "}
        <span class="soft">
          {data !== null && (
            <>
              {data.id} · {data.load} · <When at={data.started} />
            </>
          )}
        </span>
        <strong class="role">{isFirst ? "baseline" : ""}</strong>
      </span>
      <span class="buttons">
        {!isFirst && (
          <>
            <a class="button" href={compareAddress(asFirst(refs, ref))}>
              Make baseline<span class="unseen">: {ref}</span>
            </a>
            {place > 1 && (
              <a class="button" href={compareAddress(moved(refs, ref, -1))}>
                <span aria-hidden="true">↑</span>
                <span class="unseen">Move {ref} up</span>
              </a>
            )}
          </>
        )}
        <a class="button quiet" href={compareAddress(removed(refs, ref))}>
          Remove<span class="unseen"> {ref}</span>
        </a>
      </span>
    </li>
  );
}

/** A run's id begins with the minute of its start. */
function looksLikeRun(ref: string): boolean {
  return /^\d{8}-\d{4}/.test(ref);
}
