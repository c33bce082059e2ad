/** The only file that knows Vega; a chunk of its own, loaded after the page is there. */
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

// Of Vega's transforms those that our charts can need: no maps, no forces, no word clouds.
extend(transforms, data, layout, encode);

const tooltip = new Handler({ disableDefaultStyle: true, offsetX: 14, offsetY: 14 });

/** Charts carry their data; whatever a specification names beyond them is not fetched. */
const nowhere = {
  load: () => Promise.reject(new Error("charts load nothing")),
  sanitize: () => Promise.reject(new Error("charts link to nothing")),
  http: () => Promise.reject(new Error("charts load nothing")),
  file: () => Promise.reject(new Error("charts load nothing")),
};

/** A chart on the screen. */
export interface Picture {
  /** Adds rows to data sets, and draws what is new. */
  append(rows: Rows): Promise<void>;
  /** width: px of the plot. */
  widen(width: number): Promise<void>;
  /** It must not be used any more. */
  end(): void;
}

/** Draws into `into`, which is empty. width: px of the plot. Throws what Vega throws for a wrong specification. */
export async function draw(
  into: HTMLElement,
  spec: Record<string, unknown>,
  config: Record<string, unknown>,
  width: number,
): Promise<Picture> {
  const view = new View(parse(compiled(spec, config, width), undefined, { ast: true }), {
    expr: expressionInterpreter,
    renderer: "svg",
    container: into,
    loader: nowhere,
    hover: true,
    logLevel: 1,
    tooltip: tooltip.call,
  });
  await view.runAsync();
  hideMarks(into);
  const known = new Set(Object.keys(view.getState({ data: () => true, signals: () => false }).data as object));
  return {
    async append(rows) {
      for (const [name, more] of Object.entries(rows)) {
        // A layer that had no rows when the chart was made is not in it.
        if (more.length && known.has(name)) view.change(name, changeset().insert(copies(more)));
      }
      await view.runAsync();
    },
    async widen(to) {
      await view.width(to).runAsync();
    },
    end: () => void view.finalize(),
  };
}

/** Vega-Lite copies what it compiles, so the rows are put in afterwards. */
function compiled(spec: Record<string, unknown>, config: Record<string, unknown>, width: number) {
  const { datasets, title: _, ...rest } = spec;
  const rows = (datasets ?? {}) as Rows;
  const empty = Object.fromEntries(Object.keys(rows).map((name) => [name, []]));
  const made = compile({ ...rest, datasets: empty, width } as unknown as TopLevelSpec, { config }).spec;
  for (const each of made.data ?? []) {
    const found = rows[each.name];
    if (found) Object.assign(each, { values: copies(found) });
  }
  return made;
}

/** Vega marks the rows that it takes as its own. */
function copies(rows: Rows[string]): Rows[string] {
  return rows.map((row) => ({ ...row }));
}

/** The chart has a description of its own; its single marks would be read out one by one. */
function hideMarks(into: HTMLElement): void {
  into.querySelector("svg")?.setAttribute("aria-hidden", "true");
}
