import { describe, expect, it } from "vitest";
import type { LiveCharts } from "../../src/contract";
import { ChartFeed } from "../../src/live/feed";
import type { Rows } from "../../src/shared";
import { momentOf } from "./examples";

const added = (second: number) => ({ rate: { points: [{ second }] } });

function chartsUpTo(sequence: number): LiveCharts {
  const points = [{ second: sequence }];
  const chart = { name: "rate", title: "Rate", description: "", height: 200, note: "", base: "" };
  return { charts: [{ ...chart, spec: { datasets: { points } } }], config: {}, sequence };
}

/** A feed whose requests the test answers. */
function staged() {
  const asked: { endpoint: string | null; answer: (charts: LiveCharts) => void }[] = [];
  const feed = new ChartFeed((endpoint) => new Promise((answer) => asked.push({ endpoint, answer })));
  const seconds = () => {
    const { datasets } = feed.charts.value?.charts[0]?.spec as { datasets: Rows };
    return datasets.points?.map((each) => each.second);
  };
  return { feed, asked, seconds };
}

const settled = () => new Promise<void>((go) => setTimeout(go, 0));

describe("charts that grow", () => {
  it("are not requested before a component wants them", () => {
    const { feed, asked } = staged();
    feed.take(momentOf({ is_whole: true }));
    expect(asked).toHaveLength(0);
    feed.want();
    expect(asked).toHaveLength(1);
  });

  it("have each second once, whether its update came before or after them", async () => {
    const { feed, asked, seconds } = staged();
    feed.want();
    feed.take(momentOf({ is_whole: true, sequence: 4 }));
    feed.take(momentOf({ sequence: 5, appended: added(5) }));
    feed.take(momentOf({ sequence: 6, appended: added(6) }));
    asked[0]?.answer(chartsUpTo(5));
    await settled();
    feed.take(momentOf({ sequence: 7, appended: added(7) }));
    expect(seconds()).toEqual([5, 6, 7]);
  });

  it("notify listeners of new rows", async () => {
    const { feed, asked } = staged();
    const received: Rows[] = [];
    feed.want();
    feed.take(momentOf({ is_whole: true, sequence: 4 }));
    asked[0]?.answer(chartsUpTo(4));
    await settled();
    const stop = feed.follow("rate", (rows) => received.push(rows));
    feed.take(momentOf({ sequence: 5, appended: added(5) }));
    stop();
    feed.take(momentOf({ sequence: 6, appended: added(6) }));
    expect(received).toEqual([{ points: [{ second: 5 }] }]);
  });

  it("are requested again when their axes are outdated, and stay until then", async () => {
    const { feed, asked, seconds } = staged();
    feed.want();
    feed.take(momentOf({ is_whole: true, sequence: 4 }));
    asked[0]?.answer(chartsUpTo(4));
    await settled();
    feed.take(momentOf({ sequence: 5, is_outdated: true, appended: added(5) }));
    expect([asked.length, seconds()]).toEqual([2, [4]]);
    asked[1]?.answer(chartsUpTo(5));
    await settled();
    expect(seconds()).toEqual([5]);
  });

  it("ignore a response that a newer request has replaced", async () => {
    const { feed, asked, seconds } = staged();
    feed.want();
    feed.take(momentOf({ is_whole: true, sequence: 4 }));
    feed.take(momentOf({ is_whole: true, sequence: 9 }));
    asked[1]?.answer(chartsUpTo(9));
    asked[0]?.answer(chartsUpTo(4));
    await settled();
    expect(seconds()).toEqual([9]);
  });

  it("of another endpoint wait for the first update with its rows", async () => {
    const { feed, asked } = staged();
    feed.want();
    feed.take(momentOf({ is_whole: true, sequence: 4 }));
    asked[0]?.answer(chartsUpTo(4));
    await settled();
    feed.select('["GET","/a"]');
    expect([feed.charts.value, asked.length]).toEqual([null, 1]);
    feed.take(momentOf({ is_whole: true, sequence: 5 }));
    expect(asked[1]?.endpoint).toBe('["GET","/a"]');
  });
});
