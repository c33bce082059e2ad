import type { JSX } from "preact";
import type { Form, FormShape } from "../../contract";
import { SelectField, TextField } from "./fields";
import { isShaped, isWritten, type Complaint, type Draft } from "./request";

export interface PartProps {
  form: Form;
  draft: Draft;
  complaints: readonly Complaint[];
  change: (changes: Partial<Draft>) => void;
}

/** Selects users (closed model) or arrivals (open model). */
export function ModelChoice({ draft, change }: PartProps): JSX.Element {
  const choice = (model: Draft["model"], label: string, hint: string) => (
    <label class="choice">
      <input
        type="radio"
        name="model"
        value={model}
        checked={draft.model === model}
        onChange={() => change({ model })}
      />
      <strong>{label}</strong>
      <span class="more">{hint}</span>
    </label>
  );
  return (
    <fieldset class="choices">
      <legend>Load</legend>
      {choice("closed", "Users", "A fixed number of users; each waits for its answer.")}
      {choice("open", "Arrival rate", "A fixed number of arrivals per second, even when the target is slow.")}
    </fieldset>
  );
}

/** The amount of load: users and spawn rate, an arrival rate, or a shape. */
export function AmountFields(props: PartProps): JSX.Element {
  const { form, draft, complaints, change } = props;
  if (isShaped(draft, form)) {
    const name = draft.shape_class || "The LoadTestShape of the locustfile";
    return <p class="said">{name} decides how many users there are, and when the run ends.</p>;
  }
  if (draft.shape === "plan") return <p class="said">The load is the one of the plan: {form.source}.</p>;
  if (isWritten(draft)) return <ShapeText {...props} />;
  if (draft.model === "open") {
    return (
      <TextField
        field="rate"
        label="Arrivals"
        hint="900/s, 54000/m or 3600/h"
        complaints={complaints}
        value={draft.rate}
        onChange={(rate) => change({ rate })}
      />
    );
  }
  return (
    <>
      <TextField
        field="users"
        label="Users"
        hint="at the peak"
        complaints={complaints}
        value={draft.users}
        onChange={(users) => change({ users })}
        input={{ inputMode: "numeric" }}
      />
      <TextField
        field="spawn_rate"
        label="Spawn rate"
        hint="users started per second"
        complaints={complaints}
        value={draft.spawn_rate}
        onChange={(spawn_rate) => change({ spawn_rate })}
        input={{ inputMode: "decimal" }}
      />
    </>
  );
}

function shapeOf({ form, draft }: PartProps): FormShape | undefined {
  return form.shapes.find((each) => each.name === draft.shape);
}

function ShapeText(props: PartProps): JSX.Element {
  const { draft, complaints, change } = props;
  const shape = shapeOf(props);
  const isOpen = draft.model === "open";
  return (
    <TextField
      class="wide"
      field="shape_text"
      label={`${shape?.label ?? draft.shape} of the ${isOpen ? "arrival rate" : "users"}`}
      hint={
        <>
          {shape?.hint} For example <code>{isOpen ? shape?.open_example : shape?.closed_example}</code>
        </>
      }
      complaints={complaints}
      value={draft.shape_text}
      onChange={(shape_text) => change({ shape_text })}
    />
  );
}

/** The load over time. */
export function ShapeFields(props: PartProps): JSX.Element {
  const { form, draft, complaints, change } = props;
  const turn = (shape: string) =>
    change({ shape, shape_text: shape === form.request.shape ? form.request.shape_text : "" });
  return (
    <>
      {!isShaped(draft, form) && (
        <SelectField
          field="shape"
          label="Load over time"
          hint={shapeOf(props)?.hint}
          complaints={complaints}
          value={draft.shape}
          onChange={turn}
          choices={form.shapes.map((each) => ({ value: each.name, label: each.label }))}
        />
      )}
      {form.shape_classes.length > 0 && draft.model === "closed" && (
        <SelectField
          field="shape_class"
          label="LoadTestShape"
          hint="A class of the locustfile that decides how many users there are."
          complaints={complaints}
          value={draft.shape_class}
          onChange={(shape_class) => change({ shape_class })}
          choices={[
            { value: "", label: form.has_shape ? "Default" : "None" },
            ...form.shape_classes.map((each) => ({ value: each, label: each })),
          ]}
        />
      )}
    </>
  );
}
