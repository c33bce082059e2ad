import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Route } from "../shared/route";
import { useWhen } from "../shared/use_when";

type Pages = typeof import("../history");

let loaded: Pages | null = null;

/** Preloads the history pages, so that they also work after the process has ended. Rejects when the request fails. */
export async function loadHistory(): Promise<Pages> {
  return (loaded ??= await import("../history"));
}

/** The pages of stored runs. Their code is a separate chunk, loaded on first use. */
export function HistoryPage({ route, onShown }: { route: Route; onShown: () => void }): JSX.Element {
  const [pages, setPages] = useState(loaded);
  const [isLost, setLost] = useState(false);
  const load = () => {
    setLost(false);
    loadHistory().then(setPages, () => setLost(true));
  };
  // The pages may have loaded after the first render.
  useEffect(() => {
    load();
  }, []);
  useWhen(pages ? "shown" : "", () => {
    if (pages) onShown();
  });
  if (isLost) {
    return (
      <>
        <h1 tabIndex={-1}>This page could not be fetched</h1>
        <p class="problem" role="alert">
          Plimsoll does not answer. Is its process still running?
        </p>
        <button type="button" onClick={load}>
          Try again
        </button>
      </>
    );
  }
  return pages ? pageOf(pages, route) : <p class="soft">Loading…</p>;
}

function pageOf(pages: Pages, route: Route): JSX.Element {
  const { RunsPage, RunPage, ComparePage, ExperimentsPage, ExperimentPage, TrendPage } = pages;
  switch (route.page) {
    case "run":
      return <RunPage key={route.id} id={route.id} />;
    case "compare":
      return <ComparePage refs={route.refs} />;
    case "experiments":
      return <ExperimentsPage />;
    case "experiment":
      return <ExperimentPage key={route.name} name={route.name} />;
    case "trend":
      return <TrendPage series={route.series} metric={route.metric} />;
    default:
      return <RunsPage />;
  }
}
