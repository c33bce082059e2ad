import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type ChartHandle, Figure, type Span } from "../charts";
import type { ChartSpec, LiveCharts } from "../contract";
import type { ChartFeed } from "./feed";

interface Props {
  feed: ChartFeed;
  charts: LiveCharts;
  chart: ChartSpec;
  span: Span;
}

/** A chart that grows. Without a handle it reads its data sets later, and the feed has added the rows to those. */
export function LiveChart({ feed, charts, chart, span }: Props): JSX.Element {
  const handle = useRef<ChartHandle | null>(null);
  useEffect(() => feed.follow(chart.name, (rows) => handle.current?.append(rows)), [feed, chart.name]);
  return <Figure spec={chart} config={charts.config} span={span} handle={(next) => void (handle.current = next)} />;
}
