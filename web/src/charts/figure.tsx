import { useState } from "preact/hooks";
import type { ChartSpec } from "../contract";
import type { ChartHandle } from "./canvas";
import { Chart } from "./chart";
import { courseOf, seriesOf } from "./course";
import { Legend } from "./legend";
import { useKnown } from "./pointer";
import { saveImage } from "./save";
import { type Span, shownSpan, zoomed } from "./zoom";

interface Props {
  spec: ChartSpec;
  config: Record<string, unknown>;
  handle?: ((handle: ChartHandle | null) => void) | undefined;
  /** The seconds of the run that a chart over time shows. Default: all. */
  span?: Span | undefined;
}

/** A chart with its title and the notes needed to read it. */
export function Figure(props: Props) {
  return courseOf(props.spec) ? <CourseFigure {...props} /> : <PlainFigure {...props} />;
}

function PlainFigure({ spec, config, handle }: Props) {
  return (
    <figure>
      <Caption spec={spec} config={config} />
      <Chart spec={spec} config={config} handle={handle} />
    </figure>
  );
}

/** A chart over time. Its lines can be switched off, and all charts of the run share one pointer and one selection. */
function CourseFigure({ spec, config, handle, span }: Props) {
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const toggle = (name: string) =>
    setHidden(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  const series = seriesOf(spec, config);
  const isHeat = series.every((each) => each.kind === "shade");
  const signals = { ...shownSpan(spec, span), ...(!isHeat && { hidden }) };
  const isZoomed = zoomed.value?.course === courseOf(spec)?.course && zoomed.value !== null;
  useKnown({ spec, config, hidden });
  return (
    <figure class="course">
      <Caption spec={spec} config={config} signals={signals} isZoomed={isZoomed} />
      <Legend series={series} hidden={hidden} toggle={toggle} />
      <Chart spec={spec} config={config} handle={handle} signals={signals} />
    </figure>
  );
}

interface CaptionProps extends Pick<Props, "spec" | "config"> {
  signals?: object;
  isZoomed?: boolean;
}

function Caption({ spec, config, signals = {}, isZoomed = false }: CaptionProps) {
  return (
    <figcaption>
      <span class="caption-line">
        {spec.title}
        <button
          type="button"
          class="save"
          aria-label={`Save as an image: ${spec.title}`}
          title="Save as an image (SVG)"
          onClick={() => void saveImage(spec, config, signals)}
        >
          ⤓
        </button>
        {isZoomed && (
          <button type="button" class="whole" onClick={() => void (zoomed.value = null)}>
            Show all
          </button>
        )}
      </span>
      {spec.note && <span class="note">{spec.note}</span>}
    </figcaption>
  );
}
