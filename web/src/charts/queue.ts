type Job = () => Promise<void>;

/** Charts are drawn one after another: first what is near the reader, the rest when there is nothing else to do. */
export class DrawQueue {
  private readonly near = new Set<Job>();
  private readonly far = new Set<Job>();
  private isBusy = false;

  /** isIdle: told whether everything is drawn, whenever that changes. */
  constructor(private readonly isIdle: (all: boolean) => void) {}

  /** Draws when its turn comes; one that waits already moves to where it is said to be. */
  put(job: Job, isNear: boolean): void {
    this.drop(job);
    (isNear ? this.near : this.far).add(job);
    if (this.isBusy) return;
    this.isBusy = true;
    this.isIdle(false);
    void this.work();
  }

  /** It is not wanted any more. */
  drop(job: Job): void {
    this.near.delete(job);
    this.far.delete(job);
  }

  private async work(): Promise<void> {
    for (;;) {
      await (this.near.size ? soon() : idle());
      const next = first(this.near) ?? first(this.far);
      if (!next) break;
      this.drop(next);
      await next();
    }
    this.isBusy = false;
    this.isIdle(true);
  }
}

/** For all charts of the page. `data-drawn` tells printers and tests that all of them are there. */
export const queue = new DrawQueue((all) => {
  if (all) document.documentElement.dataset.drawn = "all";
  else delete document.documentElement.dataset.drawn;
});

function first(jobs: Set<Job>): Job | undefined {
  return jobs.values().next().value;
}

/** After the browser had the chance to draw what is there, and to hear the reader. */
function soon(): Promise<void> {
  return new Promise((go) => setTimeout(go, 0));
}

function idle(): Promise<void> {
  // Some browsers have no such thing.
  const wait = (window as Partial<Window>).requestIdleCallback;
  return wait ? new Promise((go) => wait(() => go(), { timeout: 500 })) : soon();
}
