import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Column } from "../../blocks/table/column";
import { DataTable } from "../../blocks/table/data_table";
import type { ProofItem, ScenarioItem, ScenarioStepItem, StepProofItem } from "../../contract";

interface StepRow {
  number: number;
  step: ScenarioStepItem;
  /** null: not proven yet. */
  proof: StepProofItem | null;
}

const TONES: Record<StepProofItem["state"], string> = { proven: "better", differs: "worse", "not reached": "invalid" };

/** The steps of a scenario, with their proof. */
export function ScenarioSteps({ scenario, proof }: { scenario: ScenarioItem; proof: ProofItem | null }): JSX.Element {
  const rows = useMemo(
    () => scenario.steps.map((step, index) => ({ number: index + 1, step, proof: proof?.steps[index] ?? null })),
    [scenario, proof],
  );
  return <DataTable caption="Steps" columns={proof ? PROVEN : COLUMNS} rows={rows} rowKey={rowKey} />;
}

function rowKey(row: StepRow): string {
  return String(row.number);
}

const COLUMNS: readonly Column<StepRow>[] = [
  { key: "number", title: "Step", text: (row) => String(row.number) },
  { key: "method", title: "Method", isText: true, room: "word", text: (row) => row.step.method },
  { key: "name", title: "Name", isText: true, room: "name", text: (row) => row.step.name },
  { key: "takes", title: "Taken from its reply", isText: true, text: (row) => row.step.takes.join(", ") || "–" },
];
const PROVEN: readonly Column<StepRow>[] = [
  ...COLUMNS,
  {
    key: "state",
    title: "Proof",
    isText: true,
    room: "word",
    text: (row) => row.proof?.state ?? "",
    cell: (row) => row.proof && <span class={`chip ${TONES[row.proof.state]}`}>{row.proof.state}</span>,
  },
  { key: "why", title: "Why", isText: true, room: "long", text: (row) => row.proof?.why || "–" },
];
