import { expect, test, vi } from "vitest";
import { DrawQueue } from "../../src/charts/queue";

const settled = (onIdle: { mock: { calls: boolean[][] } }) =>
  vi.waitFor(() => {
    if (onIdle.mock.calls.at(-1)?.[0] !== true) throw new Error("still busy");
  });

test("near charts are drawn before far ones, one at a time", async () => {
  const idle = vi.fn<(all: boolean) => void>();
  const queue = new DrawQueue(idle);
  const done: string[] = [];
  const job = (name: string) => () => {
    done.push(name);
    return Promise.resolve();
  };
  queue.put(job("far"), false);
  queue.put(job("near"), true);
  await settled(idle);
  expect(done).toEqual(["near", "far"]);
  expect(idle.mock.calls).toEqual([[false], [true]]);
});

test("a waiting chart that comes near is drawn next, and once", async () => {
  const idle = vi.fn<(all: boolean) => void>();
  const queue = new DrawQueue(idle);
  const done: string[] = [];
  const jobs = ["a", "b", "c"].map((name) => () => Promise.resolve(void done.push(name)));
  for (const job of jobs) queue.put(job, false);
  queue.put(jobs[2] as () => Promise<void>, true);
  await settled(idle);
  expect(done).toEqual(["c", "a", "b"]);
});

test("a dropped chart is not drawn", async () => {
  const idle = vi.fn<(all: boolean) => void>();
  const queue = new DrawQueue(idle);
  const job = vi.fn(() => Promise.resolve());
  queue.put(job, false);
  queue.drop(job);
  await settled(idle);
  expect(job).not.toHaveBeenCalled();
});

test("new charts are drawn after the queue was empty", async () => {
  const idle = vi.fn<(all: boolean) => void>();
  const queue = new DrawQueue(idle);
  queue.put(() => Promise.resolve(), true);
  await settled(idle);
  const late = vi.fn(() => Promise.resolve());
  queue.put(late, true);
  await settled(idle);
  expect(late).toHaveBeenCalledTimes(1);
});
