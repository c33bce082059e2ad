import type { Argument, Form, Wish } from "../../contract";

/** The form as it stands: texts are what was typed. */
export interface Draft extends Omit<Wish, "users" | "spawn_rate" | "thresholds" | "classes"> {
  users: string;
  spawn_rate: string;
  /** One in each line. */
  thresholds: string;
  /** All that are ticked. */
  classes: string[];
}

/** Something that cannot be asked for so. field: of the wish, or `arguments.NAME`; "" for none of them. */
export interface Complaint {
  field: string;
  text: string;
}

export function draftOf(form: Form): Draft {
  const { wish } = form;
  const secrets = form.arguments.filter((each) => each.kind === "secret").map((each) => [each.name, ""] as const);
  return {
    ...wish,
    users: String(wish.users),
    spawn_rate: String(wish.spawn_rate),
    thresholds: wish.thresholds.join("\n"),
    classes: wish.classes.length ? [...wish.classes] : form.classes.map((each) => each.name),
    arguments: { ...defaults(form), ...wish.arguments, ...Object.fromEntries(secrets) },
  };
}

/** A LoadTestShape says how many users there are, and when. */
export function isShaped(draft: Draft, form: Form): boolean {
  return draft.model === "closed" && (draft.shape_class !== "" || form.has_shape);
}

/** What is asked for, and what speaks against it. How loads and durations are written is the server's to judge. */
export function wishOf(draft: Draft, form: Form): { wish: Wish; complaints: Complaint[] } {
  const classes = form.classes.map((each) => each.name).filter((each) => draft.classes.includes(each));
  const isCounted = draft.model === "closed" && draft.shape === "constant" && !isShaped(draft, form);
  const wish: Wish = {
    ...draft,
    users: isCounted ? Number(draft.users) : form.wish.users,
    spawn_rate: isCounted ? Number(draft.spawn_rate) : form.wish.spawn_rate,
    rate: draft.rate.trim(),
    shape_text: isWritten(draft) ? draft.shape_text.trim() : "",
    shape_class: draft.model === "closed" ? draft.shape_class : "",
    run_time: draft.run_time.trim(),
    warmup: draft.warmup.trim(),
    stop_timeout: draft.stop_timeout.trim(),
    host: draft.host.trim(),
    classes: classes.length === form.classes.length ? [] : classes,
    name: draft.name.trim(),
    arguments: given(draft, form),
    thresholds: linesOf(draft.thresholds),
  };
  return { wish, complaints: complaintsOf(draft, form, wish, isCounted) };
}

function defaults(form: Form): Wish["arguments"] {
  return Object.fromEntries(form.arguments.map((each) => [each.name, each.value]));
}

/** A secret is never shown: one that was left empty stays as it is. */
function given(draft: Draft, form: Form): Wish["arguments"] {
  const kept = new Set(form.arguments.filter((each) => each.kind === "secret").map((each) => each.name));
  return Object.fromEntries(
    Object.entries(draft.arguments).filter(([name, value]) => !(kept.has(name) && value === "")),
  );
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((each) => each.trim())
    .filter(Boolean);
}

/** The shape is one that is written as a text. */
export function isWritten(draft: Draft): boolean {
  return draft.shape !== "constant" && draft.shape !== "plan";
}

function complaintsOf(draft: Draft, form: Form, wish: Wish, isCounted: boolean): Complaint[] {
  const found: Complaint[] = [];
  const complain = (field: string, text: string) => found.push({ field, text });
  if (isCounted && !(Number.isInteger(wish.users) && wish.users >= 1 && draft.users.trim())) {
    complain("users", "Users must be a whole number, 1 or more.");
  }
  if (isCounted && !(wish.spawn_rate > 0 && Number.isFinite(wish.spawn_rate))) {
    complain("spawn_rate", "The spawn rate must be a number above 0: so many users are started per second.");
  }
  if (draft.model === "open" && draft.shape === "constant" && !wish.rate) {
    complain("rate", "Arrivals are missing: how many there are, as in 900/s.");
  }
  if (isWritten(draft) && !wish.shape_text) complain("shape_text", "How the load changes is missing.");
  if (form.classes.length && !form.classes.some((each) => draft.classes.includes(each.name)))
    complain("classes", "At least one class of users takes part.");
  for (const each of form.arguments) {
    if (each.required && each.kind !== "secret" && isEmpty(draft.arguments[each.name])) {
      complain(fieldOf(each), `${each.label || each.name} must be given.`);
    }
  }
  return found;
}

export function fieldOf(argument: Argument): string {
  return `arguments.${argument.name}`;
}

function isEmpty(value: string | boolean | readonly string[] | undefined): boolean {
  return value === undefined || (typeof value !== "boolean" && value.length === 0);
}
