/** The only file that uses Vega. It is a separate chunk, loaded after the page. */
import { changeset, transforms } from "vega-dataflow";
import * as encode from "vega-encode";
import { expressionInterpreter } from "vega-interpreter";
import { type TopLevelSpec, compile } from "vega-lite";
import { parse } from "vega-parser";
import { Handler } from "vega-tooltip";
import * as data from "vega-transforms";
import { extend } from "vega-util";
import { View } from "vega-view";
import * as layout from "vega-view-transforms";
import type { Rows } from "../shared";
import type { Signals } from "./canvas";

// Only the Vega transforms that our charts use: no maps, forces or word clouds.
extend(transforms, data, layout, encode);

const tooltip = new Handler({ disableDefaultStyle: true, offsetX: 14, offsetY: 14 });

/** Charts carry their data. Nothing else is fetched. */
const nowhere = {
  load: () => Promise.reject(new Error("charts load nothing")),
  sanitize: () => Promise.reject(new Error("charts link to nothing")),
  http: () => Promise.reject(new Error("charts load nothing")),
  file: () => Promise.reject(new Error("charts load nothing")),
};

/** The top and bottom of a plot, in px from the corner of its picture. */
export interface Line {
  left: number;
  top: number;
  height: number;
}

/** A chart on the screen. */
export interface Picture {
  /** Appends rows to data sets and draws them. Ignores signals that the specification does not have. */
  append(rows: Rows, signals?: Signals): Promise<void>;
  /** width: of the plot, in px. */
  widen(width: number): Promise<void>;
  /** Converts a point of the picture (px) to the axes of a chart over time; null outside the axes. */
  placeOf(x: number, y: number): { second: number; value: number | null } | null;
  /** The x position of a second in the picture, in px; null if it is not on the axis. */
  lineAt(second: number): Line | null;
  /** Releases the picture. Do not use it afterwards. */
  end(): void;
}

/** How a chart is to be drawn. */
export interface Setting {
  /** Width of the plot in px. */
  width: number;
  signals?: Signals;
  /** With its title and its legend. Otherwise the page shows them. */
  isWhole?: boolean;
}

/** Draws into the empty element `into`. Throws Vega's error for a wrong specification. */
export async function draw(
  into: HTMLElement,
  spec: Record<string, unknown>,
  config: Record<string, unknown>,
  setting: Setting,
): Promise<Picture> {
  const view = new View(parse(compiled(spec, config, setting), undefined, { ast: true }), {
    expr: expressionInterpreter,
    renderer: "svg",
    container: into,
    loader: nowhere,
    hover: true,
    logLevel: 1,
    tooltip: tooltip.call,
  });
  const open = new Set(((spec.params ?? []) as { name: string }[]).map((each) => each.name));
  const set = (signals: Signals = {}) => {
    for (const [name, value] of Object.entries(signals)) if (open.has(name)) view.signal(name, value);
  };
  set(setting.signals);
  await view.runAsync();
  hideMarks(into);
  const known = new Set(Object.keys(view.getState({ data: () => true, signals: () => false }).data as object));
  return {
    async append(rows, signals) {
      set(signals);
      for (const [name, more] of Object.entries(rows)) {
        // A layer that had no rows when the chart was built is not in the view.
        if (more.length && known.has(name)) view.change(name, changeset().insert(copies(more)));
      }
      await view.runAsync();
    },
    async widen(to) {
      await view.width(to).runAsync();
    },
    placeOf(x, y) {
      const [inX, inY] = [x - BOX.left, y - BOX.top];
      if (inX < 0 || inX > view.width() || inY < 0 || inY > view.height()) return null;
      const value: unknown = scaleOf(view, "y")?.invert?.(inY);
      return { second: Number(scaleOf(view, "x")?.invert?.(inX)), value: typeof value === "number" ? value : null };
    },
    lineAt(second) {
      const at = scaleOf(view, "x")?.(second) ?? NaN;
      return at >= 0 && at <= view.width() ? { left: BOX.left + at, top: BOX.top, height: view.height() } : null;
    },
    end: () => void view.finalize(),
  };
}

/** Space around the plot of a chart over time for its axes, in px. */
const BOX = { left: 52, top: 22, right: 14, bottom: 44 };

interface Scale {
  (value: number): number;
  invert?(place: number): unknown;
}

function scaleOf(view: View, name: string): Scale | undefined {
  return view.scale(name) as Scale | undefined;
}

/** Inserts the rows after the compilation, because Vega-Lite copies what it compiles. */
function compiled(spec: Record<string, unknown>, config: Record<string, unknown>, { width, isWhole }: Setting) {
  const { datasets, title, ...others } = spec;
  const hasLegend = isWhole || !(spec.usermeta as { course?: string } | undefined)?.course;
  const rest = { ...(hasLegend ? others : inTheSameBox(others)), ...(isWhole && { title }) };
  const rows = (datasets ?? {}) as Rows;
  const empty = Object.fromEntries(Object.keys(rows).map((name) => [name, []]));
  const made = compile({ ...rest, datasets: empty, width } as unknown as TopLevelSpec, { config }).spec;
  for (const each of made.data ?? []) {
    const found = rows[each.name];
    if (found) Object.assign(each, { values: copies(found) });
  }
  return made;
}

/** Aligns the plots of charts over time, which are in one column. The page shows their legends. */
function inTheSameBox(spec: Record<string, unknown>): Record<string, unknown> {
  const layers = (spec.layer ?? []) as { encoding: Record<string, object | undefined> }[];
  const bare = ({ encoding }: (typeof layers)[number]) => ({
    ...encoding,
    ...(encoding.color && { color: { ...encoding.color, legend: null } }),
    ...(encoding.strokeDash && { strokeDash: { ...encoding.strokeDash, legend: null } }),
  });
  const layer = layers.map((each) => ({ ...each, encoding: bare(each) }));
  return { ...spec, layer, autosize: { type: "none", contains: "content" }, padding: BOX };
}

/** Copies the rows, because Vega marks the rows that it inserts. */
function copies(rows: Rows[string]): Rows[string] {
  return rows.map((row) => ({ ...row }));
}

/** The chart has a description. Without this, a screen reader would read each mark. */
function hideMarks(into: HTMLElement): void {
  into.querySelector("svg")?.setAttribute("aria-hidden", "true");
}
