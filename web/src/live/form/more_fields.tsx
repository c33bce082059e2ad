import type { JSX } from "preact";
import { Field, TextField, ChecksField } from "./fields";
import { ArgumentField } from "./argument_fields";
import { ShapeFields, type PartProps } from "./load_fields";
import { fieldOf } from "./request";

/** Fields below "More". It opens when one of them has an error. */
export function isInMore(field: string): boolean {
  const outside = ["", "users", "spawn_rate", "rate", "shape_text", "host", "run_time", "classes"];
  return !outside.includes(field) && !/^(arguments|class_settings)\b/.test(field);
}

export function MoreFields(props: PartProps): JSX.Element {
  return (
    <>
      <Timing {...props} />
      <Tags {...props} />
      <Naming {...props} />
    </>
  );
}

function Timing(props: PartProps): JSX.Element {
  const { draft, complaints, change } = props;
  return (
    <div class="row">
      <ShapeFields {...props} />
      <TextField
        field="warmup"
        label="Warm-up"
        hint="10s: load before the run time that is left out of all numbers"
        complaints={complaints}
        value={draft.warmup}
        onChange={(warmup) => change({ warmup })}
      />
      <TextField
        field="stop_timeout"
        label="Stop timeout"
        hint="10s: how long what is under way may take to finish in the end"
        complaints={complaints}
        value={draft.stop_timeout}
        onChange={(stop_timeout) => change({ stop_timeout })}
      />
    </div>
  );
}

function Tags({ form, draft, complaints, change }: PartProps): JSX.Element | null {
  if (!form.tags.length) return null;
  const choices = form.tags.map((each) => ({ value: each, label: each }));
  return (
    <div class="row">
      <ChecksField
        field="tags"
        legend="Only tasks with these tags"
        hint="None ticked: all tasks."
        complaints={complaints}
        choices={choices}
        values={draft.tags}
        onChange={(tags) => change({ tags })}
      />
      <ChecksField
        field="exclude_tags"
        legend="No tasks with these tags"
        complaints={complaints}
        choices={choices}
        values={draft.exclude_tags}
        onChange={(exclude_tags) => change({ exclude_tags })}
      />
    </div>
  );
}

function Naming({ form, draft, complaints, change }: PartProps): JSX.Element {
  return (
    <div class="row">
      <TextField
        field="name"
        label="Name of the run"
        hint="as lists call it"
        complaints={complaints}
        value={draft.name}
        onChange={(name) => change({ name })}
      />
      {!form.is_native && (
        <TextField
          field="profile"
          label="Profile"
          hint="for the locustfile: environment.profile"
          complaints={complaints}
          value={draft.profile}
          onChange={(profile) => change({ profile })}
        />
      )}
      <Field
        class="wide"
        field="thresholds"
        label="Thresholds"
        hint={
          <>
            One in each line, as in <code>p99 &lt; 200ms</code> or <code>errors &lt; 0.1% over 10s</code>
          </>
        }
        complaints={complaints}
      >
        {(tied) => (
          <textarea
            rows={2}
            spellcheck={false}
            {...tied}
            value={draft.thresholds}
            onInput={(event) => change({ thresholds: event.currentTarget.value })}
          />
        )}
      </Field>
    </div>
  );
}

/** The options that the locustfile defines. */
export function ArgumentFields({ form, draft, complaints, change }: PartProps): JSX.Element {
  return (
    <div class="row">
      {form.arguments.map((each) => (
        <ArgumentField
          key={each.name}
          argument={each}
          value={draft.arguments[each.name]}
          complaints={complaints}
          onChange={(value) => change({ arguments: { ...draft.arguments, [each.name]: value } })}
        />
      ))}
    </div>
  );
}

/** Whether a field is one of the locustfile's options. */
export function isOfArguments(form: PartProps["form"], field: string): boolean {
  return form.arguments.some((each) => fieldOf(each) === field);
}
