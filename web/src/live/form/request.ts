import type { Argument, Form, UserClassItem, RunRequest } from "../../contract";

/** The state of the form. Text fields hold what was typed. */
export interface Draft extends Omit<RunRequest, "users" | "spawn_rate" | "thresholds" | "classes" | "class_settings"> {
  users: string;
  spawn_rate: string;
  /** One per line. */
  thresholds: string;
  /** The selected classes. */
  classes: string[];
  /** By class name. */
  class_settings: Record<string, ClassDraft>;
}

/** Users of a class. "": as in the locustfile. others: settings that the form does not show. */
export interface ClassDraft {
  weight: string;
  fixed_count: string;
  others: Record<string, unknown>;
}

/** An error in the form. field: of the request, or `arguments.NAME`; "" for none of them. */
export interface Complaint {
  field: string;
  text: string;
}

export function draftOf(form: Form): Draft {
  const { request } = form;
  const secrets = form.arguments.filter((each) => each.kind === "secret").map((each) => [each.name, ""] as const);
  return {
    ...request,
    users: String(request.users),
    spawn_rate: String(request.spawn_rate),
    thresholds: request.thresholds.join("\n"),
    classes: request.classes.length ? [...request.classes] : form.classes.map((each) => each.name),
    class_settings: Object.fromEntries(form.classes.map((each) => [each.name, classDraft(request, each.name)])),
    arguments: { ...defaults(form), ...request.arguments, ...Object.fromEntries(secrets) },
  };
}

function classDraft(request: RunRequest, name: string): ClassDraft {
  const { weight, fixed_count, ...others } = request.class_settings[name] ?? {};
  return { weight: textOf(weight), fixed_count: textOf(fixed_count), others };
}

function textOf(value: unknown): string {
  return typeof value === "number" ? String(value) : "";
}

/** A user class with the draft's settings. */
export function settled(item: UserClassItem, draft: Draft): UserClassItem {
  const { weight, fixed_count } = settingsOf(draft.class_settings[item.name]);
  return { ...item, weight: Number(weight ?? item.weight), fixed_count: Number(fixed_count ?? item.fixed_count) };
}

function settingsOf(draft: ClassDraft | undefined): Record<string, unknown> {
  if (!draft) return {};
  const numbers = { weight: draft.weight.trim(), fixed_count: draft.fixed_count.trim() };
  const given = Object.entries(numbers).filter(([, text]) => text);
  return { ...draft.others, ...Object.fromEntries(given.map(([name, text]) => [name, Number(text)])) };
}

/** Only the settings that differ from the locustfile. */
function allSettings(draft: Draft): RunRequest["class_settings"] {
  const all = Object.entries(draft.class_settings).map(([name, each]) => [name, settingsOf(each)] as const);
  return Object.fromEntries(all.filter(([, settings]) => Object.keys(settings).length));
}

/** A LoadTestShape sets the number of users over time. */
export function isShaped(draft: Draft, form: Form): boolean {
  return draft.model === "closed" && (draft.shape_class !== "" || form.has_shape);
}

/** The request, and the errors in the form. The server checks how loads and durations are written. */
export function requestOf(draft: Draft, form: Form): { request: RunRequest; complaints: Complaint[] } {
  const classes = form.classes.map((each) => each.name).filter((each) => draft.classes.includes(each));
  const isCounted = draft.model === "closed" && draft.shape === "constant" && !isShaped(draft, form);
  const request: RunRequest = {
    ...draft,
    users: isCounted && isCount(draft.users) ? Number(draft.users) : form.request.users,
    spawn_rate: isCounted && isAbove0(draft.spawn_rate) ? Number(draft.spawn_rate) : form.request.spawn_rate,
    rate: draft.rate.trim(),
    shape_text: isWritten(draft) ? draft.shape_text.trim() : "",
    shape_class: draft.model === "closed" ? draft.shape_class : "",
    run_time: draft.run_time.trim(),
    warmup: draft.warmup.trim(),
    stop_timeout: draft.stop_timeout.trim(),
    host: draft.host.trim(),
    classes: classes.length === form.classes.length ? [] : classes,
    class_settings: allSettings(draft),
    name: draft.name.trim(),
    arguments: given(draft, form),
    thresholds: linesOf(draft.thresholds),
  };
  return { request, complaints: complaintsOf(draft, form, request, isCounted) };
}

function defaults(form: Form): RunRequest["arguments"] {
  return Object.fromEntries(form.arguments.map((each) => [each.name, each.value]));
}

/** The options' values. A secret is never shown, so an empty one keeps its value. */
function given(draft: Draft, form: Form): RunRequest["arguments"] {
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

/** Whether the shape is written as text. */
export function isWritten(draft: Draft): boolean {
  return draft.shape !== "constant" && draft.shape !== "plan";
}

function isCount(text: string): boolean {
  return text.trim() !== "" && Number.isInteger(Number(text)) && Number(text) >= 1;
}

function isAbove0(text: string): boolean {
  return Number(text) > 0 && Number.isFinite(Number(text));
}

function complaintsOf(draft: Draft, form: Form, request: RunRequest, isCounted: boolean): Complaint[] {
  const found: Complaint[] = [];
  const complain = (field: string, text: string) => found.push({ field, text });
  if (isCounted && !isCount(draft.users)) {
    complain("users", "Users must be a whole number, 1 or more.");
  }
  if (isCounted && !isAbove0(draft.spawn_rate)) {
    complain("spawn_rate", "The spawn rate must be a number above 0: so many users are started per second.");
  }
  if (draft.model === "open" && draft.shape === "constant" && !request.rate) {
    complain("rate", "Arrivals are missing: how many there are, as in 900/s.");
  }
  if (isWritten(draft) && !request.shape_text) complain("shape_text", "How the load changes is missing.");
  if (form.classes.length && !form.classes.some((each) => draft.classes.includes(each.name)))
    complain("classes", "At least one class of users takes part.");
  for (const [name, settings] of Object.entries(request.class_settings)) complainOf(name, settings, complain);
  for (const each of form.arguments) {
    if (each.required && each.kind !== "secret" && isEmpty(draft.arguments[each.name])) {
      complain(fieldOf(each), `${each.label || each.name} must be given.`);
    }
  }
  return found;
}

function complainOf(name: string, settings: Record<string, unknown>, complain: (field: string, text: string) => void) {
  const { weight, fixed_count } = settings;
  if (weight !== undefined && !(Number(weight) >= 0 && Number.isFinite(weight))) {
    complain(settingField(name, "weight"), `The weight of ${name} must be a number, 0 or more.`);
  }
  if (fixed_count !== undefined && !(Number(fixed_count) >= 0 && Number.isInteger(fixed_count))) {
    complain(settingField(name, "fixed_count"), `The number of users of ${name} must be whole, 0 or more.`);
  }
}

export function settingField(name: string, attribute: "weight" | "fixed_count"): string {
  return `class_settings.${name}.${attribute}`;
}

export function fieldOf(argument: Argument): string {
  return `arguments.${argument.name}`;
}

function isEmpty(value: string | boolean | readonly string[] | undefined): boolean {
  return value === undefined || (typeof value !== "boolean" && value.length === 0);
}
