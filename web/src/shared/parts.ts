import type { EndpointRow, RunJudgement, Test } from "../contract";

/** Parts of the contract that are no messages of their own, by their names. */
export type Status = Test["status"];
export type Tone = RunJudgement["tone"];
/** Rows to be added to the data sets of a chart, by data set. */
export type Rows = Record<string, Record<string, unknown>[]>;
/** What the times of an endpoint are called. */
export type TimeName = Exclude<keyof EndpointRow, "method" | "name" | "at_least" | "few" | "shares">;
