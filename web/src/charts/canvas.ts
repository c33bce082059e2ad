import { type Rows, errorText } from "../shared";
import type { Line, Picture } from "./picture";
import { queue } from "./queue";
import { plotWidth } from "./width";

/** Appends rows to a chart without redrawing it. */
export interface ChartHandle {
  /** rows: by data set. They show in the next frame. A chart outside the view shows them when it scrolls into view. */
  append(rows: Rows): void;
}

/** What a canvas draws. The specification contains the data sets. */
export interface Drawing {
  spec: Record<string, unknown>;
  config: Record<string, unknown>;
}

/** Signals of the specification, by name. */
export type Signals = Record<string, unknown>;

/** Callbacks of a canvas. */
export interface CanvasWatcher {
  /** The canvas has read the data sets: append later rows through the handle. null: it will read them again. */
  handle(handle: ChartHandle | null): void;
  /** Why the chart cannot be drawn; "" when it can. */
  failed(message: string): void;
}

const load = () => import("./picture");

/** Starts to load Vega, so that the first chart does not wait for it. */
export function loadCharts(): void {
  void load();
}

/** Draws one element when it comes near the view, at the element's width, and appends new rows. */
export class Canvas implements ChartHandle {
  private picture: Picture | null = null;
  private drawing: Drawing | null = null;
  private width = 0;
  private isNear = false;
  private isEnded = false;
  private isShowing = false;
  private pending: Rows = {};
  private signals: Signals = {};
  private isOutdated = false;
  private readonly sight: IntersectionObserver;
  private readonly size: ResizeObserver;
  private readonly job = () => this.draw();

  constructor(
    private readonly element: HTMLElement,
    private readonly watcher: CanvasWatcher,
  ) {
    this.sight = new IntersectionObserver(([entry]) => this.seen(entry?.isIntersecting ?? false), {
      rootMargin: "300px",
    });
    this.sight.observe(element);
    this.size = new ResizeObserver(() => this.fit());
    this.size.observe(element);
  }

  /** Draws this chart. The old picture stays until the new one is ready. */
  show(drawing: Drawing): void {
    this.drawing = drawing;
    this.watcher.handle(null);
    queue.put(this.job, this.isNear);
  }

  append(rows: Rows): void {
    for (const [name, more] of Object.entries(rows)) (this.pending[name] ??= []).push(...more);
    this.flush();
  }

  /** Sets the signals of this and later drawings. */
  set(signals: Signals): void {
    this.signals = signals;
    this.isOutdated = true;
    this.flush();
  }

  /** Converts a window position to the axes of a chart over time; null outside the axes. */
  placeOf(x: number, y: number): { second: number; value: number | null } | null {
    const box = this.element.querySelector("svg")?.getBoundingClientRect();
    return (box && this.picture?.placeOf(x - box.left, y - box.top)) ?? null;
  }

  /** The x position of a second in the element, in px; null if it is not on the axis. */
  lineAt(second: number): Line | null {
    return this.picture?.lineAt(second) ?? null;
  }

  end(): void {
    this.isEnded = true;
    queue.drop(this.job);
    this.sight.disconnect();
    this.size.disconnect();
    this.picture?.end();
    this.picture = null;
    this.watcher.handle(null);
  }

  private seen(isNear: boolean): void {
    this.isNear = isNear;
    if (!isNear) return;
    if (!this.picture && this.drawing) queue.put(this.job, true);
    this.fit();
    this.flush();
  }

  private async draw(): Promise<void> {
    const drawing = this.drawing;
    if (!drawing || this.isEnded) return;
    const into = document.createElement("div");
    try {
      const { draw } = await load();
      if (!this.isCurrent(drawing)) return;
      this.width = plotWidth(this.element, drawing.spec);
      this.pending = {};
      this.isOutdated = false;
      const made = draw(into, drawing.spec, drawing.config, { width: this.width, signals: this.signals });
      this.watcher.handle(this);
      const picture = await made;
      if (this.isCurrent(drawing)) this.replace(picture, into);
      else picture.end();
    } catch (error) {
      console.error(error);
      if (this.isCurrent(drawing)) this.watcher.failed(errorText(error));
    }
  }

  private isCurrent(drawing: Drawing): boolean {
    return !this.isEnded && this.drawing === drawing;
  }

  private replace(picture: Picture, into: HTMLElement): void {
    this.picture?.end();
    this.picture = picture;
    this.element.replaceChildren(into);
    this.watcher.failed("");
    this.fit();
    this.flush();
  }

  /** Follows the width of the page. In print, pictures scale as a whole, so they are not redrawn. */
  private fit(): void {
    if (!this.picture || !this.drawing || !this.element.clientWidth || matchMedia("print").matches) return;
    const width = plotWidth(this.element, this.drawing.spec);
    if (width === this.width) return;
    this.width = width;
    void this.picture.widen(width);
  }

  /** Applies all pending rows and signals, once per frame. */
  private flush(): void {
    if (this.isShowing || !this.picture || !this.isNear) return;
    if (!this.isOutdated && !Object.keys(this.pending).length) return;
    this.isShowing = true;
    requestAnimationFrame(() => {
      this.isShowing = false;
      if (!this.picture) return;
      const rows = this.pending;
      this.pending = {};
      this.isOutdated = false;
      this.picture.append(rows, this.signals).catch((error: unknown) => this.watcher.failed(errorText(error)));
    });
  }
}
