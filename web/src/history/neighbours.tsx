import type { RunItem, Trend, TrendPoint } from "../contract";
import { FIRST_METRIC } from "../shared/route";
import { runAddress, trendAddress } from "./addresses";
import { trendPath } from "./api";
import { useResource } from "./resource";

/**
 * The runs before and after this run in its series; null if there is none. The run itself may be missing: a running one
 * has no value yet. points: oldest first.
 */
export function neighboursOf(
  points: readonly TrendPoint[],
  { id, started }: { id: string; started: number },
): [TrendPoint | null, TrendPoint | null] {
  const others = points.filter((point) => point.run !== id);
  const before = others.filter((point) => point.started <= started);
  const after = others.filter((point) => point.started > started);
  return [before.at(-1) ?? null, after[0] ?? null];
}

/** Links to the runs of the same series. Keeps its height while they load. */
export function Neighbours({ run }: { run: RunItem }) {
  const { series } = run;
  const { data } = useResource<Trend>(trendPath(series, FIRST_METRIC));
  const [before, after] = neighboursOf(data?.points ?? [], run);
  return (
    <nav class="neighbours" aria-label="Runs of the same series">
      <Step point={before} title="Previous run" shape="←" />
      <Step point={after} title="Next run" shape="→" />
      <a href={trendAddress(series, FIRST_METRIC)}>Trend of this series</a>
    </nav>
  );
}

function Step({ point, title, shape }: { point: TrendPoint | null; title: string; shape: string }) {
  const text = (
    <>
      <span aria-hidden="true">{shape} </span>
      {title}
    </>
  );
  if (point === null) {
    return (
      <span class="soft" aria-disabled="true">
        {text}
      </span>
    );
  }
  return <a href={runAddress(point.run)}>{text}</a>;
}
