import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Test } from "../../contract";
import { keep, place } from "../../shared/place";
import { count } from "../../shared";
import { ENDPOINT, TAB } from "../addresses";
import type { Seen } from "../moments";
import type { Session } from "../session";
import { TabBar, TabPanel, type TabItem } from "../tab_bar";
import { Charts } from "../tabs/charts";
import { Downloads } from "../tabs/downloads";
import { Log } from "../tabs/log";
import { Overview } from "../tabs/overview";
import { Statistics } from "../tabs/statistics";
import { ExceptionsTab, FailuresTab, TasksTab } from "../tabs/asked";
import { Workers } from "../tabs/workers";

interface Props {
  session: Session;
  seen: Seen;
  test: Test;
}

const FIRST = "overview";

export function isOverview(): boolean {
  return (place.value.params.get(TAB) ?? FIRST) === FIRST;
}

/** The other parts of the run. The address stores the open tab, and the endpoint of the charts. */
export function WatchTabs({ session, seen, test }: Props): JSX.Element {
  const tabs = tabsOf(seen);
  const { params } = place.value;
  const wanted = params.get(TAB);
  const chosen = tabs.find((each) => each.id === wanted)?.id ?? FIRST;
  const endpoint = chosen === "charts" ? params.get(ENDPOINT) : null;
  useEffect(() => session.select(endpoint), [session, endpoint]);
  return (
    <div class="watch-tabs">
      <TabBar
        label="Parts of the run"
        tabs={tabs}
        chosen={chosen}
        choose={(id) => keep({ [TAB]: id === FIRST ? null : id })}
      />
      <TabPanel id={chosen}>
        <Part id={chosen} session={session} seen={seen} test={test} endpoint={endpoint} />
      </TabPanel>
    </div>
  );
}

function tabsOf(seen: Seen): TabItem[] {
  const some = (value: number) => (value ? count(value) : "");
  return [
    { id: FIRST, title: "Overview" },
    { id: "statistics", title: "Statistics", count: some(seen.rows.size) },
    { id: "charts", title: "Charts" },
    { id: "failures", title: "Failures", count: some(seen.total?.failures ?? 0) },
    { id: "exceptions", title: "Exceptions", count: some(seen.exceptions) },
    { id: "tasks", title: "Tasks" },
    { id: "workers", title: "Workers", count: seen.workers.length > 1 ? count(seen.workers.length) : "" },
    { id: "log", title: "Log" },
    { id: "downloads", title: "Downloads" },
  ];
}

function Part({ id, session, seen, test, endpoint }: Props & { id: string; endpoint: string | null }): JSX.Element {
  switch (id) {
    case "statistics":
      return <Statistics seen={seen} />;
    case "charts":
      return <Charts session={session} seen={seen} endpoint={endpoint} choose={(key) => keep({ [ENDPOINT]: key })} />;
    case "failures":
      return <FailuresTab session={session} seen={seen} test={test} />;
    case "exceptions":
      return <ExceptionsTab session={session} seen={seen} test={test} />;
    case "tasks":
      return <TasksTab session={session} test={test} />;
    case "workers":
      return <Workers workers={seen.workers} />;
    case "log":
      return <Log lines={seen.log} />;
    case "downloads":
      return <Downloads test={test} />;
    default:
      return <Overview session={session} seen={seen} />;
  }
}
