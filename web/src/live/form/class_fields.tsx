import { Folding } from "../../blocks/folding";
import type { JSX } from "preact";
import type { UserClassItem } from "../../contract";
import { ChecksField, TextField } from "./fields";
import type { PartProps } from "./load_fields";
import { settingField, settled, type ClassDraft, type Complaint } from "./request";

interface Props {
  classes: readonly UserClassItem[];
  values: readonly string[];
  complaints: readonly Complaint[];
  onChange: (values: string[]) => void;
}

/** Selects the user classes. Shows the share and the tasks of each. */
export function ClassChoice({ classes, values, complaints, onChange }: Props): JSX.Element {
  return (
    <ChecksField
      field="classes"
      legend="User classes"
      complaints={complaints}
      choices={classes.map((each) => ({
        value: each.name,
        label: (
          <>
            <strong>{each.name}</strong> <span class="soft">{shareOf(each, classes, values)}</span>
          </>
        ),
        more: [each.tasks.join(", "), each.host && `at ${each.host}`].filter(Boolean).join(" · "),
      }))}
      values={values}
      onChange={onChange}
    />
  );
}

/** The same, with the number of users of each class. */
export function ClassFields(part: PartProps): JSX.Element {
  const { form, draft, complaints, change } = part;
  return (
    <>
      <ClassChoice
        classes={form.classes.map((each) => settled(each, draft))}
        values={draft.classes}
        complaints={complaints}
        onChange={(classes) => change({ classes })}
      />
      <Folding
        summary="How many of each"
        startsOpen={complaints.some((each) => each.field.startsWith("class_settings"))}
        class="start-settings"
      >
        <>
          {form.classes.map((each) => (
            <Settings key={each.name} item={each} {...part} />
          ))}
          <p class="soft">Users are shared out by weight; a class with a number of users has just as many.</p>
        </>
      </Folding>
    </>
  );
}

function Settings({ item, draft, complaints, change }: PartProps & { item: UserClassItem }): JSX.Element {
  const now = draft.class_settings[item.name] ?? { weight: "", fixed_count: "", others: {} };
  const set = (changes: Partial<ClassDraft>) =>
    change({ class_settings: { ...draft.class_settings, [item.name]: { ...now, ...changes } } });
  return (
    <div class="row" role="group" aria-label={item.name}>
      <TextField
        field={settingField(item.name, "weight")}
        label={`${item.name}: weight`}
        complaints={complaints}
        value={now.weight}
        onChange={(weight) => set({ weight })}
        input={{ inputMode: "decimal", placeholder: String(item.weight) }}
      />
      <TextField
        field={settingField(item.name, "fixed_count")}
        label="or users"
        complaints={complaints}
        value={now.fixed_count}
        onChange={(fixed_count) => set({ fixed_count })}
        input={{ inputMode: "numeric", placeholder: item.fixed_count ? String(item.fixed_count) : "" }}
      />
    </div>
  );
}

/** The expected share of a class, before the run. */
function shareOf(item: UserClassItem, classes: readonly UserClassItem[], values: readonly string[]): string {
  if (item.fixed_count) return `always ${item.fixed_count}`;
  const others = classes.filter((each) => values.includes(each.name) && !each.fixed_count);
  const isAlone = others.length < 2 && values.includes(item.name);
  return isAlone ? "" : `weight ${item.weight}`;
}
