import type { ComponentChildren, JSX } from "preact";
import type { Complaint } from "./request";

/** Properties of every field. */
export interface FieldProps {
  /** The field's name in the request. */
  field: string;
  label: string;
  hint?: ComponentChildren;
  complaints: readonly Complaint[];
  isRequired?: boolean;
}

export function idOf(field: string): string {
  return `field-${field.replaceAll(/[^A-Za-z0-9_-]/g, "-")}`;
}

/** A field with its label, hint and errors. ARIA attributes link them to the input. */
export function Field(
  props: FieldProps & { children: (tied: Tied) => ComponentChildren; class?: string | undefined },
): JSX.Element {
  const { field, label, hint, isRequired = false } = props;
  const { id, problem, described } = descriptionOf(props);
  const tied: Tied = { id, name: field, ...described };
  if (problem) tied["aria-invalid"] = "true";
  if (isRequired) tied["aria-required"] = "true";
  return (
    <div class={`field ${props.class ?? ""}`}>
      <label for={id}>
        {label}
        {isRequired && <span class="soft"> (required)</span>}
      </label>
      {props.children(tied)}
      <Said id={id} problem={problem} hint={hint} />
    </div>
  );
}

type Description = Pick<FieldProps, "field" | "hint" | "complaints">;

/** The hint and errors of a field, and the attributes that link them to the input. */
function descriptionOf({ field, hint, complaints }: Description) {
  const id = idOf(field);
  const problem = complaints.find((each) => each.field === field)?.text;
  const ids = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return { id, problem, described: ids ? { "aria-describedby": ids } : {} };
}

function Said(props: { id: string; problem: string | undefined; hint: ComponentChildren }): JSX.Element {
  const { id, problem, hint } = props;
  return (
    <>
      {problem && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </>
  );
}

export interface Tied {
  id: string;
  name: string;
  "aria-describedby"?: string;
  "aria-invalid"?: "true";
  "aria-required"?: "true";
}

/** Options of a text field. */
interface TextProps {
  inputMode?: "numeric" | "decimal" | "url";
  placeholder?: string;
}

export function TextField({
  value,
  onChange,
  input,
  isSecret = false,
  class: own,
  ...field
}: FieldProps & {
  value: string;
  onChange: (value: string) => void;
  input?: TextProps;
  isSecret?: boolean;
  class?: string;
}): JSX.Element {
  const onInput = (event: { currentTarget: HTMLInputElement }) => onChange(event.currentTarget.value);
  return (
    <Field {...field} class={own}>
      {(tied) =>
        isSecret ? (
          <input type="password" autocomplete="new-password" {...tied} value={value} onInput={onInput} />
        ) : (
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            {...input}
            {...tied}
            value={value}
            onInput={onInput}
          />
        )
      }
    </Field>
  );
}

export function SelectField({
  value,
  onChange,
  choices,
  ...field
}: FieldProps & {
  value: string;
  onChange: (value: string) => void;
  choices: readonly { value: string; label: string }[];
}): JSX.Element {
  return (
    <Field {...field}>
      {(tied) => (
        <select {...tied} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {choices.map((each) => (
            <option key={each.value} value={each.value}>
              {each.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Checkboxes. */
export function ChecksField(props: {
  field: string;
  legend: string;
  hint?: ComponentChildren;
  complaints: readonly Complaint[];
  choices: readonly { value: string; label: ComponentChildren; more?: ComponentChildren }[];
  values: readonly string[];
  onChange: (values: string[]) => void;
}): JSX.Element {
  const { field, legend, hint, choices, values, onChange } = props;
  const { id, problem, described } = descriptionOf(props);
  const turn = (value: string, isOn: boolean) =>
    onChange(choices.map((each) => each.value).filter((each) => (each === value ? isOn : values.includes(each))));
  return (
    <fieldset class="field checks" id={id} tabIndex={-1} {...described}>
      <legend>{legend}</legend>
      {choices.map((each) => (
        <label key={each.value} class="check">
          <input
            type="checkbox"
            name={field}
            value={each.value}
            checked={values.includes(each.value)}
            onChange={(event) => turn(each.value, event.currentTarget.checked)}
          />
          <span>
            {each.label}
            {each.more && <span class="more">{each.more}</span>}
          </span>
        </label>
      ))}
      <Said id={id} problem={problem} hint={hint} />
    </fieldset>
  );
}
