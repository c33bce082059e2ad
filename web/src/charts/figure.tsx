import type { ComponentChildren } from "preact";
import type { ChartSpec } from "../contract";
import type { ChartHandle } from "./canvas";
import { Chart } from "./chart";

/** A chart with its title, and what must be known to read it. */
export function Figure(props: {
  spec: ChartSpec;
  config: Record<string, unknown>;
  handle?: ((handle: ChartHandle | null) => void) | undefined;
  children?: ComponentChildren;
}) {
  const { spec, config, handle, children } = props;
  return (
    <figure>
      <figcaption>
        {spec.title}
        {spec.note && <span class="note">{spec.note}</span>}
        {children}
      </figcaption>
      <Chart spec={spec} config={config} handle={handle} />
    </figure>
  );
}
