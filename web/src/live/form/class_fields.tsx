import type { JSX } from "preact";
import type { UserClassItem } from "../../contract";
import { ChecksField } from "./fields";
import type { Complaint } from "./wish";

interface Props {
  classes: readonly UserClassItem[];
  values: readonly string[];
  complaints: readonly Complaint[];
  onChange: (values: string[]) => void;
}

/** Who takes part: user classes with their share and what they do. */
export function ClassFields({ classes, values, complaints, onChange }: Props): JSX.Element {
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

/** What is known of a class's share before anything runs. */
export function shareOf(item: UserClassItem, classes: readonly UserClassItem[], values: readonly string[]): string {
  if (item.fixed_count) return `always ${item.fixed_count}`;
  const others = classes.filter((each) => values.includes(each.name) && !each.fixed_count);
  const isAlone = others.length < 2 && values.includes(item.name);
  return isAlone ? "" : `weight ${item.weight}`;
}
