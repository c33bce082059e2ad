import type { Problem, State } from "../contract";

const TOKEN_HEADER = "X-Plimsoll-Token";

/** A response whose status is not 2xx. */
export class RefusedError extends Error {
  readonly status: number;
  /** The field of the form that the error is about; "" for none. */
  readonly field: string;
  /** The other errors in the form. */
  readonly others: readonly Problem[];

  constructor(status: number, problem: Problem) {
    super(problem.error);
    this.name = "RefusedError";
    this.status = status;
    this.field = problem.field;
    this.others = problem.others;
  }
}

/** There was no response: the process has ended, or the network is down. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super("Plimsoll does not answer. Is its process still running?", { cause });
    this.name = "UnreachableError";
  }
}

let token: string | null = null;

/** Stores the token of the state. Every request that changes something needs it. */
export function rememberToken(of: State): void {
  token = of.token;
}

/** The address of a path below the base path: "api/state". */
export function address(path: string): string {
  return new URL(path, document.baseURI).href;
}

/** Throws RefusedError, UnreachableError, or the signal's reason after an abort. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await asked(path, signal ? { signal } : {});
  return (await answer.json()) as T;
}

/** Throws RefusedError, UnreachableError. */
export function postJson<T>(path: string, body: unknown): Promise<T> {
  return sent("POST", path, JSON.stringify(body));
}

/** Throws RefusedError, UnreachableError. */
export function patchJson<T>(path: string, body: unknown): Promise<T> {
  return sent("PATCH", path, JSON.stringify(body));
}

/** Sends a file as it is. Throws RefusedError, UnreachableError. */
export function postFile<T>(path: string, file: Blob): Promise<T> {
  return sent("POST", path, file);
}

/** The message of an error. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isUnreachable(error: unknown): error is UnreachableError {
  return error instanceof UnreachableError;
}

async function sent<T>(method: string, path: string, body: string | Blob): Promise<T> {
  const known = token ?? (await freshToken());
  try {
    return await change<T>(method, path, body, known);
  } catch (error) {
    // The process may have restarted, with a new token. The first attempt changed nothing.
    if (!(error instanceof RefusedError) || error.status !== 403) throw error;
    const fresh = await freshToken();
    if (fresh === known) throw error;
    return await change<T>(method, path, body, fresh);
  }
}

async function change<T>(method: string, path: string, body: string | Blob, by: string): Promise<T> {
  const type = typeof body === "string" ? "application/json" : "application/octet-stream";
  const answer = await asked(path, { method, headers: { "Content-Type": type, [TOKEN_HEADER]: by }, body });
  return (await answer.json()) as T;
}

async function freshToken(): Promise<string> {
  const state = await getJson<State>("api/state");
  rememberToken(state);
  return state.token;
}

async function asked(path: string, options: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(address(path), { credentials: "same-origin", ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new UnreachableError(error);
  }
  if (!answer.ok) throw new RefusedError(answer.status, await problemOf(answer));
  return answer;
}

async function problemOf(answer: Response): Promise<Problem> {
  const unsaid = { error: `The answer was HTTP ${answer.status}.`, field: "", others: [] };
  try {
    return { ...unsaid, ...((await answer.json()) as Partial<Problem>) };
  } catch {
    return unsaid;
  }
}
