import type { JSX } from "preact";
import { Mark, ThemeSwitch } from "../shared";
import type { Connection } from "../live/link";
import type { Route } from "../shared/route";

interface Props {
  route: Route;
  /** This page can start and watch runs. */
  hasLive: boolean;
  /** Set by the live page only. */
  connection: Connection | null;
}

const PAGES = [
  { href: "#/", title: "Live", pages: ["live"] },
  { href: "#/runs", title: "Runs", pages: ["runs", "run", "compare"] },
  { href: "#/experiments", title: "Experiments", pages: ["experiments", "experiment"] },
  { href: "#/trend", title: "Trend", pages: ["trend"] },
] as const;

export function Header({ route, hasLive, connection }: Props): JSX.Element {
  const page = route.page === "live" && !hasLive ? "runs" : route.page;
  return (
    <header class="bar">
      <div>
        <a class="home" href="#/" aria-label={hasLive ? "Plimsoll, live page" : "Plimsoll, all runs"}>
          <Mark />
          <span>Plimsoll</span>
        </a>
        <nav aria-label="Pages">
          {PAGES.filter((each) => hasLive || each.title !== "Live").map((each) => (
            <a
              key={each.href}
              href={each.href}
              {...(each.pages.some((name) => name === page) && { "aria-current": "page" })}
            >
              {each.title}
            </a>
          ))}
        </nav>
        {connection && <ConnectionState connection={connection} />}
        <ThemeSwitch />
      </div>
    </header>
  );
}

const STATES: Record<Connection["state"], string> = {
  connecting: "Connecting",
  open: "Connected",
  lost: "Connection lost",
  ended: "Process ended",
};

function ConnectionState({ connection }: { connection: Connection }): JSX.Element {
  return (
    <p class={`connection ${connection.state}`}>
      <span aria-hidden="true" class="dot" />
      <span class="word">{STATES[connection.state]}</span>
    </p>
  );
}
