import type { Findings as FindingsData, ShownFinding } from "../contract";
import { Facts } from "./facts";
import { Figures } from "./figures";
import { Folding } from "./folding";
import { Prose } from "./prose";

/** Findings of the analysis, with their evidence. */
export function Findings({ findings, folded }: FindingsData) {
  return (
    <>
      <FindingList findings={findings} />
      {folded.length > 0 && (
        <Folding class="more" summary={`${folded.length} more of the same rules`}>
          <FindingList findings={folded} />
        </Folding>
      )}
    </>
  );
}

function FindingList({ findings }: { findings: readonly ShownFinding[] }) {
  return (
    <ol class="findings">
      {findings.map((each, place) => (
        <Finding key={`${each.id} ${place}`} finding={each} />
      ))}
    </ol>
  );
}

function Finding({ finding }: { finding: ShownFinding }) {
  const { id, weight, word, statement, advice, rule, place, evidence, charts } = finding;
  return (
    <li>
      <p class="statement">
        <span class={`weight ${weight}`}>{word}</span>
        {statement}
      </p>
      {advice && (
        <p class="soft">
          <Prose text={advice} />
        </p>
      )}
      <Folding summary="Evidence" opensOnPaper>
        <p class="soft">
          {id}: {rule}
          {place && ` Concerns ${place}.`}
        </p>
        {evidence.length > 0 && <Facts facts={evidence} style="evidence" />}
        <Figures charts={charts} wide={false} />
      </Folding>
    </li>
  );
}
