import { useEffect, useRef } from "preact/hooks";

/** Runs something after the first drawing, and after each one at which the key is another than before. */
export function useWhen(key: string, run: () => void): void {
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (last.current === key) return;
    last.current = key;
    run();
  });
}

/** Runs something when Escape is pressed, wherever the focus is. */
export function useEscape(run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (event.key === "Escape") latest.current();
    };
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
}
