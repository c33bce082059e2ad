import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Form, ProofItem, ScenarioItem } from "../../contract";
import { announce } from "../../shared/announce";
import { download } from "../../shared";
import type { NamedContent, Server } from "../session";
import { DropZone } from "./drop_zone";
import { complaintsAbout } from "./problems";
import type { Complaint } from "./request";
import { ScenarioSteps } from "./scenario_steps";

/** The last scenario survives a visit to another page. */
const kept = signal<{ scenario: ScenarioItem; proof: ProofItem | null } | null>(null);

/** The next form has no scenario. */
export function forgetScenario(): void {
  kept.value = null;
}

type Work = "" | "reading" | "proving" | "using";

interface Props {
  form: Form;
  server: Pick<Server, "takeScenario" | "proveScenario" | "useScenario">;
  /** The source of the form has changed: fetches the form again. */
  onUsed: () => Promise<void>;
}

/** Makes a scenario of a recording, proves it, and makes it the source of the next runs. */
export function ScenarioSource({ form, server, onUsed }: Props): JSX.Element {
  const [work, setWork] = useState<Work>("");
  const [complaints, setComplaints] = useState<readonly Complaint[]>([]);
  const now = kept.value;
  /** field: where an error is shown; "" is below the buttons. */
  const run = async (kind: Work, field: string, action: () => Promise<void>) => {
    if (work) return;
    setWork(kind);
    setComplaints([]);
    try {
      await action();
    } catch (error) {
      setComplaints(complaintsAbout(error).map((complaint) => ({ ...complaint, field })));
    }
    setWork("");
  };
  const take = (field: string, files: readonly NamedContent[], variables: string[]) =>
    run("reading", field, async () => {
      kept.value = { scenario: await server.takeScenario(files, variables), proof: null };
      announce(kept.value.scenario.summary);
    });
  const prove = (scenario: ScenarioItem) =>
    run("proving", "", async () => {
      const proof = await server.proveScenario({ id: scenario.id });
      kept.value = { scenario, proof };
      announce(proof.summary);
    });
  const use = (id: string) =>
    run("using", "", async () => {
      await server.useScenario({ id });
      await onUsed();
    });
  const problem = complaints.find((complaint) => !complaint.field)?.text;
  return (
    <section class="scenario" aria-label="From a recording">
      {form.first_source && (
        <p class="said">
          Runs are of {form.source}.{" "}
          <button type="button" onClick={() => void use("")}>
            Back to {form.first_source}
          </button>
        </p>
      )}
      <DropZone complaints={complaints} isBusy={work === "reading"} onContent={(...content) => void take(...content)} />
      {now && (
        <>
          <h2>{now.scenario.source}</h2>
          <p>{now.scenario.summary}</p>
          <ScenarioSteps {...now} />
          {now.proof && <Result proof={now.proof} />}
          <Notes lines={now.scenario.notes} />
          <p class="buttons">
            <button type="button" class="primary" aria-disabled={work !== ""} onClick={() => void use(now.scenario.id)}>
              Use it
            </button>
            <button type="button" aria-disabled={work !== ""} onClick={() => void prove(now.scenario)}>
              {work === "proving" ? "Proving…" : "Prove it"}
            </button>
            <button type="button" onClick={() => download(now.scenario.file, now.scenario.plan, "application/toml")}>
              Download the plan
            </button>
          </p>
          <p class="note">{now.scenario.proof_offer}</p>
        </>
      )}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}

function Result({ proof }: { proof: ProofItem }): JSX.Element {
  return (
    <p>
      <strong>{proof.summary}</strong> {proof.explanation}
    </p>
  );
}

function Notes({ lines }: { lines: readonly string[] }): JSX.Element | null {
  if (!lines.length) return null;
  return (
    <ul class="notes">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
