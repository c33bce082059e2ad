import { signal } from "@preact/signals";
import { Folding } from "../../blocks/folding";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Form, LoadCurve as Curve, RunRequest } from "../../contract";
import { ClassFields } from "./class_fields";
import { TextField, idOf } from "./fields";
import { LoadCurve } from "./load_curve";
import { AmountFields, ModelChoice, type PartProps } from "./load_fields";
import { ArgumentFields, MoreFields, isInMore, isOfArguments } from "./more_fields";
import { draftOf, requestOf, type Complaint, type Draft } from "./request";

/** The draft survives a visit to another page. */
const kept = signal<Draft | null>(null);

/** The next form starts with the server's defaults. */
export function forgetDraft(): void {
  kept.value = null;
}

interface Props {
  form: Form;
  /** Resolves to the errors that the server found. */
  check: (request: RunRequest) => Promise<Complaint[]>;
  /** Resolves to the errors; [] when the run is accepted. */
  start: (request: RunRequest) => Promise<Complaint[]>;
  /** The load of a request, to be drawn. */
  curveOf: (request: RunRequest) => Promise<Curve>;
  /** The connection is lost, so nothing can start. */
  isLost: boolean;
}

/** Starts a run. The common fields come first, the others are below "More". */
export function StartForm({ form, check, start, curveOf, isLost }: Props): JSX.Element {
  const [complaints, setComplaints] = useState<readonly Complaint[]>([]);
  const [isBusy, setBusy] = useState(false);
  const draft = kept.value ?? draftOf(form);
  const change = (changes: Partial<Draft>) => {
    kept.value = { ...draft, ...changes };
    // An error disappears when its field changes.
    setComplaints((before) => before.filter((each) => !((each.field.split(".")[0] ?? "") in changes)));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    const { request, complaints: own } = requestOf(draft, form);
    setBusy(true);
    setComplaints(own);
    const ownFields = own.map((each) => each.field);
    const found = await (own.length ? check(request) : start(request));
    setComplaints([...own, ...found.filter((each) => !each.field || !ownFields.includes(each.field))]);
    setBusy(false);
  };
  const part: PartProps = { form, draft, complaints, change };
  return (
    <form class="start" noValidate onSubmit={(event) => void submit(event)}>
      <Summary complaints={complaints} />
      <div class="start-columns">
        <div class="start-load">
          <ModelChoice {...part} />
          <Basics {...part} />
          <LoadCurve request={requestOf(draft, form).request} curveOf={curveOf} />
          <p class="start-go">
            <button type="submit" class="primary" aria-disabled={isBusy} disabled={isLost}>
              {isBusy ? "Starting…" : "Start"}
            </button>
          </p>
        </div>
        {form.classes.length > 0 && (
          <aside class="start-who" aria-label="Who takes part">
            <ClassFields {...part} />
          </aside>
        )}
      </div>
      <Folded {...part} />
    </form>
  );
}

function Basics(part: PartProps): JSX.Element {
  const { form, draft, complaints, change } = part;
  return (
    <div class="row">
      <AmountFields {...part} />
      <TextField
        field="run_time"
        label="Run time"
        hint="2m, 1h30m; empty: until you stop it"
        complaints={complaints}
        value={draft.run_time}
        onChange={(run_time) => change({ run_time })}
      />
      <TextField
        class="wide"
        field="host"
        label={form.is_native ? "Target" : "Host"}
        hint={
          form.classes.some((each) => each.host)
            ? "in place of those that the classes name; empty: each its own"
            : undefined
        }
        complaints={complaints}
        value={draft.host}
        onChange={(host) => change({ host })}
        input={{ inputMode: "url", placeholder: "http://127.0.0.1:8000" }}
      />
    </div>
  );
}

function Folded(part: PartProps): JSX.Element {
  const { form, draft, complaints } = part;
  const isMissing = requestOf(draft, form).complaints.some((each) => isOfArguments(form, each.field));
  const first = useRef(isMissing);
  return (
    <>
      {form.arguments.length > 0 && (
        <Folding
          class="fold"
          summary="Options of the locustfile"
          startsOpen={first.current || complaints.some((each) => isOfArguments(form, each.field))}
        >
          <ArgumentFields {...part} />
        </Folding>
      )}
      <Folding class="fold" summary="More" startsOpen={complaints.some((each) => isInMore(each.field))}>
        <MoreFields {...part} />
      </Folding>
    </>
  );
}

/** All errors at the top, where screen readers find them first. */
function Summary({ complaints }: { complaints: readonly Complaint[] }): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (complaints.length) box.current?.focus();
  }, [complaints]);
  if (!complaints.length) return null;
  return (
    <div class="complaints" role="alert" tabIndex={-1} ref={box}>
      <h2>Fix this to start</h2>
      <ul>
        {complaints.map((each) => (
          <li key={each.field + each.text}>{each.field ? <FieldLink complaint={each} /> : each.text}</li>
        ))}
      </ul>
    </div>
  );
}

function FieldLink({ complaint }: { complaint: Complaint }): JSX.Element {
  const id = idOf(complaint.field);
  const jump = (event: Event) => {
    event.preventDefault();
    document.getElementById(id)?.focus();
  };
  return (
    <a href={`#${id}`} onClick={jump}>
      {complaint.text}
    </a>
  );
}
