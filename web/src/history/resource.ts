import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { getJson, errorText, isUnreachable } from "../shared";

export interface Resource<T> {
  /** null before the first response. */
  data: T | null;
  /** The error of the last request; "" if it succeeded. */
  error: string;
  isLoading: boolean;
  /** Sends the request again now. */
  reload: () => void;
  /** Changes the data, after another request returned newer data. */
  put: (change: (data: T) => T) => void;
}

interface Answer<T> {
  path: string | null;
  data: T | null;
  error: string;
  isLoading: boolean;
}

interface Ways<T> {
  /** The minimum ms until the next request, while the page is visible; null: no more requests. */
  again?: (data: T) => number | null;
  /** Keep the old data until the response for a new address arrives. For lists with a search. */
  keeps?: boolean;
}

/** Minimum pause between requests, as a multiple of the response time: a generator may run in the same process. */
const REST_FACTOR = 10;

/** ms until the next attempt, when the server cannot be reached. */
const RETRY_MS = 5_000;

/** The response of an address below `api/`. null: no request. */
export function useResource<T>(path: string | null, ways: Ways<T> = {}): Resource<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ path, data: null, error: "", isLoading: true });
  const [round, setRound] = useState(0);
  const again = useRef(ways.again);
  again.current = ways.again;

  useEffect(() => {
    if (path === null) return undefined;
    const ended = new AbortController();
    setAnswer((was) => ({ ...was, isLoading: true }));
    const ask = async (): Promise<void> => {
      let wait: number | null = null;
      const begun = performance.now();
      try {
        const data = await getJson<T>(path, ended.signal);
        setAnswer((was) => ({ path, data: unchanged(was, path, data), error: "", isLoading: false }));
        const least = again.current?.(data) ?? null;
        wait = least && Math.max(least, REST_FACTOR * (performance.now() - begun));
      } catch (error) {
        if (ended.signal.aborted) return;
        setAnswer((was) => ({
          path,
          data: was.path === path ? was.data : null,
          error: errorText(error),
          isLoading: false,
        }));
        if (isUnreachable(error)) wait = RETRY_MS;
      }
      if (wait !== null) later(() => void ask(), wait, ended.signal);
    };
    void ask();
    return () => ended.abort();
  }, [path, round]);

  const reload = useCallback(() => setRound((number) => number + 1), []);
  const put = useCallback(
    (change: (data: T) => T) => setAnswer((was) => (was.data === null ? was : { ...was, data: change(was.data) })),
    [],
  );
  const isCurrent = answer.path === path || ways.keeps === true;
  return {
    data: isCurrent ? answer.data : null,
    error: answer.path === path ? answer.error : "",
    isLoading: path !== null && (answer.isLoading || answer.path !== path),
    reload,
    put,
  };
}

/** Returns the old object if nothing changed, so that nothing renders again. */
function unchanged<T>(was: Answer<T>, path: string, data: T): T {
  return was.path === path && was.data !== null && JSON.stringify(was.data) === JSON.stringify(data) ? was.data : data;
}

/** Calls after a time (ms), but waits until the page is visible. */
function later(call: () => void, wait: number, ended: AbortSignal): void {
  const timer = setTimeout(() => {
    if (!document.hidden) call();
    else document.addEventListener("visibilitychange", call, { once: true, signal: ended });
  }, wait);
  ended.addEventListener("abort", () => clearTimeout(timer), { once: true });
}
