import { useEffect, useRef, useState } from "preact/hooks";
import type { ChartSpec } from "../contract";
import { same } from "../shared/same";
import { Canvas, type ChartHandle } from "./canvas";

/**
 * A picture without its title. It is drawn when it comes near, and anew when its specification is another one.
 *
 * handle: gets what rows can be appended with, at the very moment at which the data sets of the specification have been
 * read, and null when they are to be read again.
 */
export function Chart(props: {
  spec: ChartSpec;
  config: Record<string, unknown>;
  handle?: ((handle: ChartHandle | null) => void) | undefined;
}) {
  const { name, title, description, height } = props.spec;
  const element = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas | null>(null);
  const handle = useRef(props.handle);
  handle.current = props.handle;
  const [trouble, setTrouble] = useState("");
  const drawing = useSteady({ spec: props.spec.spec, config: props.config });

  useEffect(() => {
    if (!element.current) return undefined;
    const made = new Canvas(element.current, { handle: (each) => handle.current?.(each), failed: setTrouble });
    canvas.current = made;
    return () => made.end();
  }, []);
  useEffect(() => canvas.current?.show(drawing), [drawing]);

  return (
    <div class="chart" data-chart={name}>
      {trouble && <p class="failed">This chart could not be drawn: {trouble}</p>}
      <div
        class="plot"
        ref={element}
        role="img"
        aria-label={description ? `${title}. ${description}` : title}
        style={{ minHeight: trouble ? "0" : `${height}px` }}
      />
    </div>
  );
}

/** The object of the last time for as long as the new one says the same. */
function useSteady<T>(value: T): T {
  const kept = useRef(value);
  if (!same(kept.current, value)) kept.current = value;
  return kept.current;
}
