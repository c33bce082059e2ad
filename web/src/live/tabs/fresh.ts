import { useEffect, useRef, useState } from "preact/hooks";
import { errorText } from "../../shared";

/** Minimum ms between two requests. */
const MIN_INTERVAL_MS = 2000;

export interface Fresh<T> {
  value: T | null;
  problem: string;
}

/** Data from the server, fetched again when `reason` changes, at a limited rate. */
export function useFresh<T>(ask: () => Promise<T>, reason: string): Fresh<T> {
  const [fresh, setFresh] = useState<Fresh<T>>({ value: null, problem: "" });
  const last = useRef({ at: -Infinity, turn: 0 });
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    const timer = setTimeout(
      () => {
        const turn = ++last.current.turn;
        last.current.at = performance.now();
        const isLast = () => turn === last.current.turn;
        asking.current().then(
          (value) => isLast() && setFresh({ value, problem: "" }),
          (error: unknown) => isLast() && setFresh((before) => ({ ...before, problem: errorText(error) })),
        );
      },
      Math.max(0, last.current.at + MIN_INTERVAL_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [reason]);
  useEffect(() => () => void (last.current.turn = -1), []);
  return fresh;
}
