import type { JSX } from "preact";
import type { Argument } from "../../contract";
import { ChecksField, Field, SelectField, TextField } from "./fields";
import { fieldOf, type Complaint, type Draft } from "./request";

type Value = Draft["arguments"][string];

interface Props {
  argument: Argument;
  value: Value | undefined;
  complaints: readonly Complaint[];
  onChange: (value: Value) => void;
}

/** One option that the locustfile defines. */
export function ArgumentField({ argument, value, complaints, onChange }: Props): JSX.Element {
  const field = { field: fieldOf(argument), label: argument.label || argument.name, complaints };
  const hinted = { ...field, ...(argument.help && { hint: argument.help }), isRequired: argument.required };
  const text = typeof value === "string" ? value : "";
  switch (argument.kind) {
    case "checkbox":
      return (
        <Field {...hinted} class="switch">
          {(tied) => (
            <input
              type="checkbox"
              {...tied}
              checked={value === true}
              onChange={(event) => onChange(event.currentTarget.checked)}
            />
          )}
        </Field>
      );
    case "select":
      return <SelectField {...hinted} value={text} onChange={onChange} choices={choicesOf(argument, text)} />;
    case "multiple":
      return (
        <ChecksField
          {...field}
          legend={field.label}
          hint={argument.help}
          choices={argument.choices.map((each) => ({ value: each, label: each }))}
          values={Array.isArray(value) ? value : []}
          onChange={onChange}
        />
      );
    case "secret":
      return (
        <TextField
          {...hinted}
          hint={`${argument.help} Never shown; left empty, it stays as it was started with.`.trim()}
          value={text}
          onChange={onChange}
          isSecret
        />
      );
    case "text":
      return <TextField {...hinted} value={text} onChange={onChange} />;
  }
}

/** The choices, plus the default if it is not one of them. */
function choicesOf(argument: Argument, value: string): { value: string; label: string }[] {
  const values = argument.choices.includes(value) ? argument.choices : [value, ...argument.choices];
  return values.map((each) => ({ value: each, label: each || "–" }));
}
