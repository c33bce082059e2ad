import { useEffect, useRef } from "preact/hooks";

/** Runs a function after the first render, and after each render with a new key. */
export function useWhen(key: string, run: () => void): void {
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (last.current === key) return;
    last.current = key;
    run();
  });
}

/** Runs a function when Escape is pressed, wherever the focus is. */
export function useEscape(run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape") latest.current();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}
