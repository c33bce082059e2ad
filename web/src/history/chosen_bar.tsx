import type { RunItem } from "../contract";
import { compareAddress } from "./addresses";

/** What was ticked in the list, and the way to its comparison; nothing while nothing is. */
export function ChosenBar({ chosen, clear }: { chosen: readonly RunItem[]; clear: () => void }) {
  const [first] = chosen;
  if (first === undefined) return null;
  return (
    <div class="chosen" role="region" aria-label="Chosen runs">
      <p aria-live="polite">
        {chosen.length === 1
          ? "1 run chosen: choose another to compare it with."
          : `${String(chosen.length)} runs chosen. The others are compared with ${first.name || first.id} (${first.id}), which was chosen first.`}
      </p>
      <span class="buttons">
        {chosen.length > 1 && (
          <a class="button primary" href={compareAddress(chosen.map((run) => run.id))}>
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
