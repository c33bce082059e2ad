import type { EndpointRow, Test } from "../../contract";
import { NONE, amount, count, milliseconds, rate, share, shareOf } from "../../shared";
import { isUnfinished, isMeasuring } from "../status";

/** A number of the first screen, as text. */
export interface Figure {
  label: string;
  value: string;
  unit?: string;
  /** A second value, shown next to it. */
  more?: string;
  isBad?: boolean;
}

/** The main numbers: of the last ten seconds during the run, of the whole run afterwards. */
export function figuresOf(test: Test, total: EndpointRow | null): Figure[] {
  const isNow = isMeasuring(test);
  return [
    isUnfinished(test) ? users(test) : sum(total),
    requests(total, isNow),
    failures(total, isNow),
    ...times(total, isNow),
  ];
}

function users(test: Test): Figure {
  const isOnTheWay = test.wanted !== null && test.wanted !== test.users;
  return { label: "Users", value: count(test.users), ...(isOnTheWay && { more: `of ${count(test.wanted)}` }) };
}

/** After a run, the total replaces the number of users. */
function sum(total: EndpointRow | null): Figure {
  return { label: "Requests", value: total ? count(total.requests) : NONE };
}

function requests(total: EndpointRow | null, isNow: boolean): Figure {
  const value = total && (isNow ? total.current_rps : total.rps);
  return {
    label: "Requests/s",
    value: rate(value),
    ...(total && isNow && { more: `${count(total.requests)} in all` }),
  };
}

/** Recent failures and all failures. Zero counts as good. */
function failures(total: EndpointRow | null, isNow: boolean): Figure {
  if (!total) return { label: "Failures", value: NONE };
  const all = total.failures ? `${count(total.failures)} in all` : "none";
  const isLately = isNow && total.current_failures_per_s > 0;
  return {
    label: "Failures",
    value: share(total.failures, total.requests),
    more: isLately ? `${all}, ${rate(total.current_failures_per_s)}/s now` : all,
    isBad: total.failures > 0,
  };
}

function beside(...parts: readonly (string | boolean | undefined)[]): { more?: string } {
  const more = parts.filter(Boolean).join(", ");
  return more ? { more } : {};
}

function times(total: EndpointRow | null, isNow: boolean): Figure[] {
  const figure = (label: string, now: number | null, whole: number | null, name: string): Figure => ({
    label: isNow ? `${label} now` : label,
    value: milliseconds(isNow ? now : whole, total?.at_least.includes(isNow ? `current_${name}` : name)),
    unit: "ms",
    ...beside(
      shareOf(total?.shares[isNow ? `current_${name}` : name]),
      (isNow ? now : whole) !== null && total?.few.includes(isNow ? `current_${name}` : name) && "of few requests",
      isNow && whole !== null && `${amount(whole)} ms over the whole run`,
    ),
  });
  return [
    figure("p50", total?.current_p50 ?? null, total?.p50 ?? null, "p50"),
    figure("p99", total?.current_p99 ?? null, total?.p99 ?? null, "p99"),
  ];
}
