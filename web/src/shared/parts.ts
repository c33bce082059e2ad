import type { EndpointRow, RunJudgement, Test } from "../contract";

/** Names for parts of the contract that have no type of their own. */
export type Status = Test["status"];
export type Tone = RunJudgement["tone"];
/** Rows to append to a chart, by data set. */
export type Rows = Record<string, Record<string, unknown>[]>;
/** The time fields of an endpoint. */
export type TimeName = Exclude<keyof EndpointRow, "method" | "name" | "at_least" | "few" | "shares">;
