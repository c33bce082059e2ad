type Job = () => Promise<void>;

/** Draws charts one at a time: first those near the view, then the others when the browser is idle. */
export class DrawQueue {
  private readonly near = new Set<Job>();
  private readonly far = new Set<Job>();
  private isBusy = false;

  /** isIdle: called with whether all charts are drawn, on each change. */
  constructor(private readonly isIdle: (all: boolean) => void) {}

  /** Queues a job. A job that is already queued moves to the given queue. */
  put(job: Job, isNear: boolean): void {
    this.drop(job);
    (isNear ? this.near : this.far).add(job);
    if (this.isBusy) return;
    this.isBusy = true;
    this.isIdle(false);
    void this.work();
  }

  /** Removes a job. */
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

/** The queue of the page. `data-drawn` tells printers and tests that all charts are drawn. */
export const queue = new DrawQueue((all) => {
  if (all) document.documentElement.dataset.drawn = "all";
  else delete document.documentElement.dataset.drawn;
});

function first(jobs: Set<Job>): Job | undefined {
  return jobs.values().next().value;
}

/** Resolves after the browser could paint and handle input. */
function soon(): Promise<void> {
  return new Promise((go) => setTimeout(go, 0));
}

function idle(): Promise<void> {
  // Some browsers do not have requestIdleCallback.
  const wait = (window as Partial<Window>).requestIdleCallback;
  return wait ? new Promise((go) => wait(() => go(), { timeout: 500 })) : soon();
}
