import { useEffect, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { LoadCurve as Curve, RunRequest } from "../../contract";
import { amount, seconds } from "../../shared";

/** ms without a change of the form before the curve is asked for. */
const PAUSE_MS = 250;
/** The size of the drawing, in its own units. */
const WIDTH = 400;
const HEIGHT = 56;

interface Props {
  request: RunRequest;
  /** Rejects if the server cannot be reached. */
  curveOf: (request: RunRequest) => Promise<Curve>;
}

/** The load that the form asks for, as a small curve. Nothing is shown for a form that cannot be read. */
export function LoadCurve({ request, curveOf }: Props): JSX.Element | null {
  const [curve, setCurve] = useState<Curve | null>(null);
  const key = JSON.stringify(request);
  useEffect(() => {
    let isCurrent = true;
    const show = (found: Curve | null) => isCurrent && setCurve(found);
    const asked = JSON.parse(key) as RunRequest;
    const timer = setTimeout(() => void curveOf(asked).then(show, () => show(null)), PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key, curveOf]);
  if (!curve?.levels.length) return null;
  const peak = Math.max(...curve.levels);
  const top = `${amount(peak).replace(/\.0+$/, "")}${curve.unit === "/s" ? "/s" : peak === 1 ? " user" : " users"}`;
  const end = curve.is_endless ? "until you stop it" : `for ${seconds(curve.seconds)}`;
  return (
    <figure class="load-curve">
      <figcaption class="soft">
        At most {top}, {end}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="area" d={`M0,${HEIGHT} ${lineOf(curve.levels, peak)} L${WIDTH},${HEIGHT} Z`} />
        <path class={curve.is_endless ? "line endless" : "line"} d={`M${lineOf(curve.levels, peak).slice(1)}`} />
      </svg>
    </figure>
  );
}

/** "L0,56 L2,54 …": the levels from left to right; the highest has its place just below the top. */
export function lineOf(levels: readonly number[], peak: number): string {
  const points = levels.map((level, index) => {
    const x = (index / Math.max(1, levels.length - 1)) * WIDTH;
    const y = HEIGHT - (peak ? level / peak : 0) * (HEIGHT - 2);
    return `L${round(x)},${round(y)}`;
  });
  return points.join(" ");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
