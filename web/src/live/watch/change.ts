import type { LoadChange, Form, Test } from "../../contract";
import type { Complaint } from "../form/request";

/** The form "Edit load", as typed. An empty text means no change. */
export interface Edit {
  users: string;
  spawn_rate: string;
  classes: string[];
  rate: string;
}

export function editOf(test: Test, form: Form | null): Edit {
  const all = form?.classes.map((each) => each.name) ?? [];
  return {
    users: String(test.wanted ?? test.users),
    spawn_rate: form ? String(form.request.spawn_rate) : "",
    classes: form?.request.classes.length ? [...form.request.classes] : all,
    rate: form?.request.rate ?? "",
  };
}

/** The change from before to now. null in it: no change. */
export function changeOf(before: Edit, edit: Edit, test: Test): { change: LoadChange; complaints: Complaint[] } {
  const complaints: Complaint[] = [];
  if (test.model === "open") {
    const rate = edit.rate.trim();
    if (!rate) complaints.push({ field: "rate", text: "Arrivals are missing: how many there are, as in 900/s." });
    return { change: { users: null, spawn_rate: null, classes: null, rate }, complaints };
  }
  const [users, spawn] = [Number(edit.users), Number(edit.spawn_rate)];
  const isSame = before.classes.join() === edit.classes.join();
  if (!edit.users.trim() || !Number.isInteger(users) || users < 0) {
    complaints.push({ field: "users", text: "Users must be a whole number, 0 or more." });
  }
  if (edit.spawn_rate.trim() && !(spawn > 0 && Number.isFinite(spawn))) {
    complaints.push({ field: "spawn_rate", text: "The spawn rate must be a number above 0." });
  }
  if (before.classes.length && !edit.classes.length) {
    complaints.push({ field: "classes", text: "At least one class of users takes part." });
  }
  return {
    change: {
      users,
      spawn_rate: edit.spawn_rate.trim() ? spawn : null,
      classes: isSame ? null : edit.classes,
      rate: null,
    },
    complaints,
  };
}
