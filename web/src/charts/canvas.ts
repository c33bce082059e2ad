import { type Rows, sayOf } from "../shared";
import type { Line, Picture } from "./picture";
import { queue } from "./queue";
import { plotWidth } from "./width";

/** Lets rows be added to a chart without drawing it anew. */
export interface ChartHandle {
  /** rows: by data set. They are shown at the next chance; of a chart out of sight, when it comes into sight. */
  append(rows: Rows): void;
}

/** What a canvas draws. The data sets are in the specification. */
export interface Drawing {
  spec: Record<string, unknown>;
  config: Record<string, unknown>;
}

/** Values that a specification leaves open, by name. */
export type Signals = Record<string, unknown>;

/** Told by a canvas. */
export interface CanvasWatcher {
  /** The data sets have been read; what comes from now on is to be appended. null: they will be read again. */
  handle(handle: ChartHandle | null): void;
  /** The chart cannot be drawn; "" when it can. */
  failed(message: string): void;
}

const load = () => import("./picture");

/** Begins to load what draws, so that the first chart need not wait for it. */
export function loadCharts(): void {
  void load();
}

/** Keeps one element of the page drawn: when it is near, as wide as it is, with the rows that come. */
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

  /** Draws this from now on; what is there stays until it is done. */
  show(drawing: Drawing): void {
    this.drawing = drawing;
    this.watcher.handle(null);
    queue.put(this.job, this.isNear);
  }

  append(rows: Rows): void {
    for (const [name, more] of Object.entries(rows)) (this.pending[name] ??= []).push(...more);
    this.flush();
  }

  /** These hold from now on, also for what is drawn later. */
  set(signals: Signals): void {
    this.signals = signals;
    this.isOutdated = true;
    this.flush();
  }

  /** What a point of the window is on the axes of a chart over time; null beyond them. */
  placeOf(x: number, y: number): { second: number; value: number | null } | null {
    const box = this.element.querySelector("svg")?.getBoundingClientRect();
    return (box && this.picture?.placeOf(x - box.left, y - box.top)) ?? null;
  }

  /** Where a second is in the element, px; null for one that is not on the axis. */
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
      if (this.isCurrent(drawing)) this.watcher.failed(sayOf(error));
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

  /** Follows the width of the page; not that of the paper, on which pictures shrink as a whole. */
  private fit(): void {
    if (!this.picture || !this.drawing || !this.element.clientWidth || matchMedia("print").matches) return;
    const width = plotWidth(this.element, this.drawing.spec);
    if (width === this.width) return;
    this.width = width;
    void this.picture.widen(width);
  }

  /** All rows and signals that have come meanwhile, once in a frame. */
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
      this.picture.append(rows, this.signals).catch((error: unknown) => this.watcher.failed(sayOf(error)));
    });
  }
}
