import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { LivePage } from "../live/page";
import type { Session } from "../live/session";
import { Announcer } from "../shared/announce";
import { place } from "../shared/place";
import type { Route } from "../shared/route";
import { useWhen } from "../shared/use_when";
import { Header } from "./header";
import { HistoryPage } from "./history_page";

/** Draws the frame of every page, and the page that the address names. */
export function App({ session }: { session: Session }): JSX.Element {
  const { route, path } = place.value;
  const known = session.known.value;
  const hasLive = known?.mode !== "serve";
  const isOfRuns = known?.mode === "run";
  const isLive = route.page === "live" && hasLive;
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    // Every page connects: the process that runs tests stays alive while a browser is connected.
    if (isOfRuns) void session.link.connect();
    return () => session.link.end();
  }, [session, isOfRuns]);
  const arrived = useRef(path);
  const arrive = () => {
    // After a link, the focus moves to the new page. A page that was just opened starts at its top.
    if (arrived.current !== path) main.current?.querySelector("h1")?.focus();
    arrived.current = path;
  };
  useWhen(`${path} ${hasLive}`, () => {
    document.title = `${titleOf(route, hasLive)} – Plimsoll`;
    scrollTo(0, 0);
    if (isLive || route.page === "missing") arrive();
  });
  const isUnknown = route.page === "live" && !known;
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header route={route} hasLive={hasLive} connection={isOfRuns ? session.link.connection.value : null} />
      <main id="main" tabIndex={-1} ref={main}>
        {isUnknown ? (
          <Waiting problem={session.problem.value} />
        ) : (
          <Page route={route} path={path} isLive={isLive} session={session} onShown={arrive} />
        )}
      </main>
      <footer class="foot">
        {known && `Plimsoll ${known.version}`}
        {known?.store && ` · runs are kept in ${known.store}`}
      </footer>
      <Announcer />
    </>
  );
}

/** Shown before the first response. */
function Waiting({ problem }: { problem: string }): JSX.Element {
  return (
    <>
      <h1 tabIndex={-1}>Live</h1>
      {problem ? (
        <p class="banner bad" role="alert">
          {problem} Trying again…
        </p>
      ) : (
        <p class="soft">Waiting for Plimsoll…</p>
      )}
    </>
  );
}

interface PageProps {
  route: Route;
  path: string;
  isLive: boolean;
  session: Session;
  onShown: () => void;
}

function Page({ route, path, isLive, session, onShown }: PageProps): JSX.Element {
  if (isLive) return <LivePage session={session} />;
  if (route.page === "missing") {
    return (
      <>
        <h1 tabIndex={-1}>There is no such page</h1>
        <p>
          Nothing is found at <code>{route.path}</code>. <a href="#/runs">All runs</a>
        </p>
      </>
    );
  }
  return <HistoryPage key={path} route={route} onShown={onShown} />;
}

/** Moves the focus by script: the part of the address after # names the page, so it cannot name a place in it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function titleOf(route: Route, hasLive: boolean): string {
  switch (route.page) {
    case "live":
      return hasLive ? "Live" : "Runs";
    case "runs":
      return "Runs";
    case "run":
      return "Run";
    case "compare":
      return "Comparison";
    case "experiments":
      return "Experiments";
    case "experiment":
      return route.name;
    case "trend":
      return "Trend";
    case "missing":
      return "Not found";
  }
}
