import type { RunItem } from "../contract";
import { compareAddress } from "./addresses";

/** The selected runs, with a link to compare them. Empty without a selection. */
export function ChosenBar({ chosen, clear }: { chosen: readonly RunItem[]; clear: () => void }) {
  const inTime = [...chosen].sort((a, b) => a.started - b.started);
  const [first] = inTime;
  if (first === undefined) return null;
  return (
    <div class="chosen" role="region" aria-label="Chosen runs">
      <p aria-live="polite">
        {chosen.length === 1
          ? "1 run chosen: choose another to compare it with."
          : `${String(chosen.length)} runs chosen. The baseline is the oldest, ${first.name || first.id}.`}
      </p>
      <span class="buttons">
        {chosen.length > 1 && (
          <a class="button primary" href={compareAddress(inTime.map((run) => run.id))}>
            Compare {chosen.length} runs
          </a>
        )}
        <button type="button" class="quiet" onClick={clear}>
          Choose none
        </button>
      </span>
    </div>
  );
}
