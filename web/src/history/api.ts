import type { ExperimentItem, Label, RunItem } from "../contract";
import { patchJson } from "../shared";
import { query } from "./addresses";

/** Query of the list of runs. */

interface RunsWanted {
  search?: string;
  tag?: string;
  limit: number;
  /** Number of later runs to skip. */
  from?: number;
}

export function runsPath({ search = "", tag = "", limit, from = 0 }: RunsWanted): string {
  return `api/runs${query([
    ["search", search],
    ["tag", tag],
    ["limit", String(limit)],
    ["offset", from ? String(from) : ""],
  ])}`;
}

export function runPath(id: string): string {
  return `api/runs/${encodeURIComponent(id)}`;
}

export function downloadPath(id: string, format: string): string {
  return `${runPath(id)}/${format}`;
}

export function pagePath(refs: readonly string[]): string {
  return `api/page${query(refs.map((ref) => ["ref", ref]))}`;
}

/** The address of a report as a file. */
export function reportPath(refs: readonly string[], format: string): string {
  return `api/report/${format}${query(refs.map((ref) => ["ref", ref]))}`;
}

export const EXPERIMENTS_PATH = "api/experiments";
export const SERIES_PATH = "api/series";

export function experimentPath(name: string): string {
  return `${EXPERIMENTS_PATH}/${encodeURIComponent(name)}`;
}

export function trendPath(series: string, metric: string): string {
  return `api/trend${query([
    ["series", series],
    ["metric", metric],
  ])}`;
}

export function labelRun(id: string, label: Label): Promise<RunItem> {
  return patchJson<RunItem>(runPath(id), label);
}

export function labelExperiment(name: string, label: Label): Promise<ExperimentItem> {
  return patchJson<ExperimentItem>(experimentPath(name), label);
}
