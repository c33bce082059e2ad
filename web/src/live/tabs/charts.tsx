import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Test } from "../../contract";
import { LiveChart } from "../live_chart";
import type { Seen } from "../moments";
import type { Session } from "../session";
import { EndpointChoice } from "./endpoint_choice";
import { SpanChoice, spanOf, wantedSpan } from "./span";

interface Props {
  session: Session;
  seen: Seen;
  /** Its key; null is all endpoints together. */
  endpoint: string | null;
  choose: (endpoint: string | null) => void;
}

/** All charts of one endpoint, or of all endpoints together. */
export function Charts({ session, seen, endpoint, choose }: Props): JSX.Element {
  return (
    <ChartGrid session={session} test={seen.test}>
      <EndpointChoice rows={seen.rows} endpoint={endpoint} choose={choose} />
    </ChartGrid>
  );
}

interface GridProps {
  session: Session;
  test: Test | null;
  /** Shows only this many charts. */
  most?: number;
  /** Shown next to the choice of the time span. */
  children?: ComponentChildren;
}

export function ChartGrid({ session, test, most = Infinity, children }: GridProps): JSX.Element {
  const feed = session.charts;
  useEffect(() => feed.want(), [feed]);
  const charts = feed.charts.value;
  const span = spanOf(test, feed.end.value, wantedSpan());
  return (
    <>
      <div class="tools">
        {children}
        <SpanChoice />
      </div>
      {charts ? (
        <div class="pair live-charts">
          {charts.charts.slice(0, most).map((each) => (
            <LiveChart key={each.name} feed={feed} charts={charts} chart={each} span={span} />
          ))}
        </div>
      ) : (
        <p class="soft empty">The charts come with the first seconds…</p>
      )}
    </>
  );
}
