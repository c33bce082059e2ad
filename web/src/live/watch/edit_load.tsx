import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { LoadChange, Form, Test } from "../../contract";
import { useEscape } from "../../shared/use_when";
import { ClassChoice } from "../form/class_fields";
import { TextField } from "../form/fields";
import { complaintsAbout } from "../form/problems";
import type { Complaint } from "../form/request";
import { changeOf, editOf } from "./change";

interface Props {
  test: Test;
  form: Form | null;
  change: (change: LoadChange) => Promise<void>;
  onDone: () => void;
}

/** Changes the load during the run. */
export function EditLoad({ test, form, change, onDone }: Props): JSX.Element {
  useEscape(onDone);
  const [before] = useState(() => editOf(test, form));
  const [edit, setEdit] = useState(before);
  const [complaints, setComplaints] = useState<readonly Complaint[]>([]);
  const box = useRef<HTMLFormElement>(null);
  useEffect(() => box.current?.querySelector("input")?.select(), []);
  const put = (changes: Partial<typeof edit>) => setEdit({ ...edit, ...changes });
  const submit = async (event: Event) => {
    event.preventDefault();
    const wanted = changeOf(before, edit, test);
    setComplaints(wanted.complaints);
    if (wanted.complaints.length) return;
    const found = await change(wanted.change).then(() => [], complaintsAbout);
    setComplaints(found);
    if (!found.length) onDone();
  };
  const field = (name: "users" | "spawn_rate" | "rate", label: string, hint?: string) => (
    <TextField
      field={name}
      label={label}
      hint={hint}
      complaints={complaints}
      value={edit[name]}
      onChange={(value) => put({ [name]: value })}
    />
  );
  const others = complaints.filter((each) => !(each.field in edit));
  return (
    <form class="panel" aria-label="Edit load" ref={box} noValidate onSubmit={(event) => void submit(event)}>
      {others.length > 0 && (
        <p class="problem" role="alert">
          {others.map((each) => each.text).join(" ")}
        </p>
      )}
      <div class="row">
        {test.model === "open" ? (
          field("rate", "Arrivals", "900/s from now on, in place of what was planned")
        ) : (
          <>
            {field("users", "Users")}
            {field("spawn_rate", "Spawn rate", "users started or stopped per second")}
          </>
        )}
        {test.model === "closed" && form && form.classes.length > 1 && (
          <ClassChoice
            classes={form.classes}
            values={edit.classes}
            complaints={complaints}
            onChange={(classes) => put({ classes })}
          />
        )}
      </div>
      <p class="buttons">
        <button type="submit" class="primary">
          Change load
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </p>
    </form>
  );
}
