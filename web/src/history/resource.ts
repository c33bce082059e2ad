import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { getJson, sayOf, isUnreachable } from "../shared";

export interface Resource<T> {
  /** null before the first answer. */
  data: T | null;
  /** Why the last question was not answered; "" when it was. */
  error: string;
  isLoading: boolean;
  /** Asks again, now. */
  reload: () => void;
  /** What the server has just said by another way takes the place of something in it. */
  put: (change: (data: T) => T) => void;
}

interface Answer<T> {
  path: string | null;
  data: T | null;
  error: string;
  isLoading: boolean;
}

interface Ways<T> {
  /** ms after which it is asked for again at the earliest, while somebody looks at the page; null: no more. */
  again?: (data: T) => number | null;
  /** Whether what came from another address stays in view until the answer is there: for lists that are searched. */
  keeps?: boolean;
}

/** How many times as long as an answer took nobody asks again: a generator may run in the same process. */
const REST = 10;

/** ms after which a server that could not be reached is asked again. */
const RETRY = 5_000;

/** What the server says at an address below `api/`; null: nothing is asked. */
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
        wait = least && Math.max(least, REST * (performance.now() - begun));
      } catch (error) {
        if (ended.signal.aborted) return;
        setAnswer((was) => ({
          path,
          data: was.path === path ? was.data : null,
          error: sayOf(error),
          isLoading: false,
        }));
        if (isUnreachable(error)) wait = RETRY;
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

/** The same object when nothing in it has changed, so that nothing is drawn again. */
function unchanged<T>(was: Answer<T>, path: string, data: T): T {
  return was.path === path && was.data !== null && JSON.stringify(was.data) === JSON.stringify(data) ? was.data : data;
}

/** Calls after a time (ms), but not before somebody looks at the page. */
function later(call: () => void, wait: number, ended: AbortSignal): void {
  const timer = setTimeout(() => {
    if (!document.hidden) call();
    else document.addEventListener("visibilitychange", call, { once: true, signal: ended });
  }, wait);
  ended.addEventListener("abort", () => clearTimeout(timer), { once: true });
}
