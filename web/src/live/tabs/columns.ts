import type { Column } from "../../blocks/table/column";
import type { EndpointRow } from "../../contract";
import { bytes, count, rate, share, type TimeName } from "../../shared";
import { timeColumn as time } from "./time_column";

type RowColumn = Column<EndpointRow>;

const NOW = "of the last 10 s";
const ALL = "of the whole run";

function perSecond(key: TimeName, title: string, hint: string, isOff = false): RowColumn {
  return { key, title, hint, isOff, text: (row) => rate(row[key]), order: (row) => row[key] };
}

const response = `response time (ms) ${ALL}`;
const lately = `response time (ms) ${NOW}`;
const service = `what the target and the network took (ms), ${ALL}`;

/** Columns of an endpoint: counts, recent values, totals, service times. */
export const NUMBERS: readonly RowColumn[] = [
  { key: "requests", title: "Requests", hint: ALL, text: (row) => count(row.requests), order: (row) => row.requests },
  { key: "failures", title: "Failures", hint: ALL, text: (row) => count(row.failures), order: (row) => row.failures },
  {
    key: "unanswered",
    title: "Unanswered",
    hint: "no response had come when the user was stopped, or the waiting for it ended",
    isOff: true,
    text: (row) => count(row.unanswered),
    order: (row) => row.unanswered,
  },
  {
    key: "failed",
    title: "Failed",
    hint: `share of the requests ${ALL}`,
    text: (row) => share(row.failures, row.requests),
    order: (row) => (row.requests ? row.failures / row.requests : null),
  },
  perSecond("current_rps", "Now/s", `requests per second ${NOW}`),
  perSecond("current_failures_per_s", "Fails now/s", `failures per second ${NOW}`, true),
  time("current_p50", "p50 now", lately),
  time("current_p95", "p95 now", lately, true),
  time("current_p99", "p99 now", lately),
  perSecond("rps", "Requests/s", ALL, true),
  perSecond("failures_per_s", "Failures/s", ALL, true),
  time("mean", "Mean", response, true),
  time("min", "Min", response, true),
  time("p50", "p50", response),
  time("p90", "p90", response, true),
  time("p95", "p95", response),
  time("p99", "p99", response),
  time("p999", "p99.9", response, true),
  time("max", "Max", response),
  time("service_p50", "Service p50", service, true),
  time("service_p99", "Service p99", service, true),
  {
    key: "size",
    title: "Size",
    hint: `mean of the decoded bodies ${ALL}`,
    isOff: true,
    text: (row) => bytes(row.size),
    order: (row) => row.size,
  },
];
