import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Form, Test } from "../../contract";
import { isUnfinished, isMeasuring } from "../status";
import type { Session } from "../session";
import { EditLoad } from "./edit_load";
import { Question } from "./question";

type Panel = "stop" | "edit" | "reset";

interface Props {
  session: Session;
  test: Test;
  form: Form | null;
  /** Address of the form for another run; null if none can start. */
  another: string | null;
}

/** Actions on the run, while the connection is open. Some ask for confirmation below the buttons. */
export function Actions(props: Props): JSX.Element | null {
  const { state } = props.session.link.connection.value;
  if (state === "ended") return null;
  return (
    <fieldset class="actions" disabled={state === "lost"}>
      <Buttons {...props} />
    </fieldset>
  );
}

function Buttons({ session, test, form, another }: Props): JSX.Element {
  const [panel, setPanel] = useState<Panel | null>(null);
  const [problem, setProblem] = useState("");
  const run = async (action: () => Promise<void>): Promise<void> => {
    setPanel(null);
    setProblem("");
    await action().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  const stop = () => void run(() => session.server.stop());
  const toggle = (wanted: Panel) => setPanel(panel === wanted ? null : wanted);
  const unmeasured = isMeasuring(test) && test.elapsed < test.warmup;
  const isStoppable = isUnfinished(test) && test.status !== "stopping";
  return (
    <>
      <div class="buttons" role="group" aria-label="The run">
        {isUnfinished(test) && (
          <button
            type="button"
            class="primary stop"
            disabled={!isStoppable}
            onClick={() => (unmeasured ? toggle("stop") : stop())}
          >
            {test.status === "stopping" ? "Stopping…" : "Stop"}
          </button>
        )}
        {isMeasuring(test) && test.is_editable && isStoppable && (
          <button type="button" aria-expanded={panel === "edit"} onClick={() => toggle("edit")}>
            Edit load
          </button>
        )}
        {isMeasuring(test) && isStoppable && (
          <button type="button" aria-expanded={panel === "reset"} onClick={() => toggle("reset")}>
            Reset numbers
          </button>
        )}
        {!isUnfinished(test) && another && (
          <a class="button primary" href={another}>
            New run
          </a>
        )}
        {!isUnfinished(test) && test.run && (
          <a class="button" href={`#/runs/${encodeURIComponent(test.run)}`}>
            Report
          </a>
        )}
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {panel === "stop" && isStoppable && (
        <Question
          text="The warm-up is not over: nothing has been measured yet, and stopping now leaves a run without numbers."
          yes="Stop all the same"
          onYes={stop}
          onNo={() => setPanel(null)}
        />
      )}
      {panel === "reset" && isStoppable && (
        <Question
          text="All tables and charts start again from this second. What was measured so far is kept in the store and left out of the numbers, as a warm-up is."
          yes="Reset numbers now"
          onYes={() => void run(() => session.server.reset())}
          onNo={() => setPanel(null)}
        />
      )}
      {panel === "edit" && isMeasuring(test) && isStoppable && (
        <EditLoad
          test={test}
          form={form}
          change={(change) => session.server.change(change)}
          onDone={() => setPanel(null)}
        />
      )}
    </>
  );
}
