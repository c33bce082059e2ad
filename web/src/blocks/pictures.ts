import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ChartSpec, ReportDocument } from "../contract";
import type { Rows } from "../shared";

/** The charts of a document by name, with their common theme. */
export interface Pictures {
  charts: ReadonlyMap<string, ChartSpec>;
  config: Record<string, unknown>;
}

const Context = createContext<Pictures>({ charts: new Map(), config: {} });

export const PicturesOf = Context.Provider;

export function usePictures(): Pictures {
  return useContext(Context);
}

/** A highlighted variant of a chart stores only the data that its base chart lacks. This adds the rest. */
export function picturesOf(document: ReportDocument): Pictures {
  const charts = new Map(document.charts.map((chart) => [chart.name, chart]));
  for (const chart of document.charts) {
    const base = charts.get(chart.base);
    if (base) charts.set(chart.name, { ...chart, spec: { ...chart.spec, datasets: joined(base, chart) } });
  }
  return { charts, config: document.config };
}

function joined(base: ChartSpec, chart: ChartSpec): Rows {
  return { ...(base.spec.datasets as Rows), ...(chart.spec.datasets as Rows) };
}
