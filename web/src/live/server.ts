import type { ExceptionItem, FailureItem, LiveCharts, LogLine, State, TaskRatio } from "../contract";
import { RefusedError, address, getJson, postFile, postJson, rememberToken } from "../shared";
import type { Server } from "./session";

/** ms after which a request without a response fails. */
const TIMEOUT_MS = 10_000;
/** The same for the first request: importing a locustfile for the form may take a minute. */
const FIRST_TIMEOUT_MS = 70_000;

/** The server that this page came from. */
export const server: Server = {
  state: async () => {
    const state = await ask<State>("api/state", FIRST_TIMEOUT_MS).catch(toLogin);
    rememberToken(state);
    return state;
  },
  stream: (endpoint) => new EventSource(address(about("api/live", endpoint))),
  charts: (endpoint) => ask<LiveCharts>(about("api/live/charts", endpoint)),
  log: async () => (await ask<{ log: LogLine[] }>("api/live/log")).log,
  failures: async () => (await ask<{ failures: FailureItem[] }>("api/live/failures")).failures,
  exceptions: async () => (await ask<{ exceptions: ExceptionItem[] }>("api/live/exceptions")).exceptions,
  tasks: async () => (await ask<{ tasks: TaskRatio[] }>("api/live/tasks")).tasks,
  check: (request) => postJson("api/live/check", request),
  curve: (request) => postJson("api/live/curve", request),
  start: (request) => postJson("api/live/start", request),
  takeScenario: (files, variables) => {
    const named = files.flatMap(({ name, content }) => [["name", name], ["size", String(content.size)]]); // prettier-ignore
    const query = new URLSearchParams([...named, ...variables.map((variable) => ["set", variable])]);
    // More than two are refused by their names, so they need not be sent.
    const contents = files.length > 2 ? [] : files.map(({ content }) => content);
    return postFile(`api/live/scenario?${query.toString()}`, new Blob(contents));
  },
  proveScenario: (choice) => postJson("api/live/scenario/prove", choice),
  useScenario: (choice) => postJson("api/live/scenario/use", choice),
  change: (change) => postJson("api/live/change", change),
  stop: () => postJson("api/live/stop", {}),
  reset: () => postJson("api/live/reset", {}),
};

function ask<T>(path: string, patience = TIMEOUT_MS): Promise<T> {
  return getJson<T>(path, AbortSignal.timeout(patience));
}

function about(path: string, endpoint: string | null): string {
  return endpoint === null ? path : `${path}?endpoint=${encodeURIComponent(endpoint)}`;
}

/** Sends the reader to the login page when the session has expired. */
function toLogin(error: unknown): never {
  if (error instanceof RefusedError && error.status === 401) location.assign(address("login"));
  throw error;
}
