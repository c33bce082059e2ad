/**
 * Numbers as text. Only what is shown is rounded. A duration is never rounded to whole milliseconds where that would
 * hide a difference.
 */

/** Shown for an unknown value. */
export const NONE = "–";
/** The separator between groups of digits: narrow, no line break. */
const NARROW = "\u202f";

/** With thousands separators: 41 204. */
export function count(value: number | null): string {
  return value === null ? NONE : grouped(Math.round(value).toString());
}

/** At least three digits: 0.113, 4.21, 21.5, 853, 12 345. */
export function amount(value: number | null): string {
  if (value === null) return NONE;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.0005) return value < 0 ? ">−0.001" : "<0.001";
  if (size >= 99.95) return count(value);
  return value.toFixed(size < 0.9995 ? 3 : size < 9.995 ? 2 : 1);
}

/** Milliseconds, for a column whose title has the unit. isAtLeast: the true value may be larger. */
export function milliseconds(value: number | null, isAtLeast = false): string {
  return bounded(amount(value), value !== null && isAtLeast);
}

/** The mark after a time to which the generator may have added a significant share. */
export function markOf(share: number | undefined): string {
  return share === undefined ? "" : "*";
}

/** The meaning of the mark. */
export function shareOf(share: number | undefined): string | undefined {
  return share === undefined ? undefined : `up to ${amount(share)} ms of it is the generator's`;
}

/** A duration with its unit: 0.113 ms, 12.3 ms, 1.24 s, 2 min 5 s. value: ms. */
export function duration(value: number | null, isAtLeast = false): string {
  if (value === null) return NONE;
  if (value < 999.5) return bounded(`${amount(value)} ms`, isAtLeast);
  return bounded(value < 59_950 ? `${amount(value / 1000)} s` : seconds(value / 1000), isAtLeast);
}

/** 1.24 s, 12.3 s, 2 min 5 s, 1 h 3 min. value: s. */
export function seconds(value: number): string {
  if (value < 59.95) return `${amount(value).replace(/\.0+$/, "")} s`;
  const whole = Math.round(value);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const parts: [number, string][] = hours
    ? [[hours, "h"], [minutes, "min"]]
    : [[minutes, "min"], [rest, "s"]]; // prettier-ignore
  return parts
    .filter(([part]) => part)
    .map(([part, unit]) => `${part} ${unit}`)
    .join(" ");
}

/** A rate, for a column whose title has the unit: 0, 0.25, 12.3, 930. */
export function rate(value: number | null): string {
  if (value === null) return NONE;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.01) return "<0.01";
  return size >= 99.95 ? count(value) : value.toFixed(size < 9.995 ? 2 : 1);
}

/** A percentage. Only zero is shown as 0 %, and only the whole as 100 %. */
export function share(part: number, whole: number): string {
  if (!whole) return NONE;
  const percent = (100 * part) / whole;
  if (percent === 0 || percent === 100) return `${percent} %`;
  if (percent < 0.01) return "<0.01 %";
  if (percent > 99.99) return ">99.99 %";
  return `${percent.toFixed(percent < 9.995 ? 2 : percent < 99.95 ? 1 : 2)} %`;
}

/** 512 B, 1.50 KiB. */
export function bytes(value: number | null): string {
  if (value === null) return NONE;
  let [size, unit] = [value, "B"];
  for (const larger of ["KiB", "MiB", "GiB", "TiB"]) {
    if (size < 1023.5) break;
    [size, unit] = [size / 1024, larger];
  }
  return `${unit === "B" ? count(size) : amount(size)} ${unit}`;
}

/** Minutes and seconds: 0:34, 12:05, 1:02:05. value: s. */
export function clock(value: number): string {
  const whole = Math.max(0, Math.floor(value));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** The time of day in the reader's time zone, with the zone: 14:05:09 GMT+1. moment: Unix seconds. */
export function timeOfDay(moment: number): string {
  const date = new Date(moment * 1000);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" }).formatToParts(date);
  return `${time} ${parts.find((part) => part.type === "timeZoneName")?.value ?? ""}`.trimEnd();
}

/** The time since a moment, or its date if it is long ago. Both in Unix seconds. */
export function ago(moment: number, now: number): string {
  const past = now - moment;
  if (past < 45) return "just now";
  if (past < 3600) return `${Math.max(1, Math.floor(past / 60))} min ago`;
  if (past < 86_400) return `${Math.floor(past / 3600)} h ago`;
  const days = Math.floor(past / 86_400);
  if (days < 14) return days === 1 ? "1 day ago" : `${days} days ago`;
  return new Date(moment * 1000).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

/** Date and time to the second, in the reader's time zone, with the zone. moment: Unix seconds. */
export function dateTime(moment: number): string {
  return new Date(moment * 1000).toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
}

function bounded(text: string, isAtLeast: boolean): string {
  return isAtLeast ? `≥${text}` : text;
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, NARROW).replace("-", "−");
}

function two(value: number): string {
  return value.toString().padStart(2, "0");
}
