import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { LiveChart } from "../live_chart";
import type { Seen } from "../moments";
import type { Session } from "../session";
import { EndpointChoice } from "./endpoint_choice";

interface Props {
  session: Session;
  seen: Seen;
  /** As its key; null is all of them together. */
  endpoint: string | null;
  choose: (endpoint: string | null) => void;
}

/** All charts of all endpoints together, or of one. */
export function Charts({ session, seen, endpoint, choose }: Props): JSX.Element {
  return (
    <>
      <EndpointChoice rows={seen.rows} endpoint={endpoint} choose={choose} />
      <ChartGrid session={session} />
    </>
  );
}

/** most: the first so many of them. */
export function ChartGrid({ session, most = Infinity }: { session: Session; most?: number }): JSX.Element {
  const feed = session.charts;
  useEffect(() => feed.want(), [feed]);
  const charts = feed.charts.value;
  if (!charts) return <p class="soft empty">The charts come with the first seconds…</p>;
  return (
    <div class="pair live-charts">
      {charts.charts.slice(0, most).map((each) => (
        <LiveChart key={each.name} feed={feed} charts={charts} chart={each} />
      ))}
    </div>
  );
}
