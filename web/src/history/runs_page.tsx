import { useEffect, useRef, useState } from "preact/hooks";
import { changed, keep, place } from "../shared/place";
import type { Label, RunItem, RunList } from "../contract";
import { count } from "../shared";
import { labelRun, runsPath } from "./api";
import { Nothing, Trouble, Waiting } from "./notices";
import { useResource } from "./resource";
import { RunRows } from "./run_rows";
import { ChosenBar } from "./chosen_bar";
import { RunFilters } from "./run_filters";
import { isUnfinished } from "./status";

/** Page sizes: the first, and after each "more". The server returns no more than the last. */
const SIZES = [50, 150, 500] as const;
const [FEW, , MOST] = SIZES;
const BUSY = 3_000;
const IDLE = 8_000;

/** All runs of the store, latest first. */
export function RunsPage() {
  const { params } = place.value;
  const search = params.get("search") ?? "";
  const tag = params.get("tag") ?? "";
  const from = Math.max(0, Number.parseInt(params.get("from") ?? "", 10) || 0);
  const [limit, setLimit] = useState<number>(FEW);
  const [chosen, setChosen] = useState<readonly RunItem[]>([]);
  useEffect(() => setLimit(FEW), [search, tag, from]);
  useTopOn(from);
  const { data, error, isLoading, reload, put } = useResource<RunList>(runsPath({ search, tag, limit, from }), {
    again: (list) => (list.runs.some((run) => isUnfinished(run.status)) ? BUSY : IDLE),
    keeps: true,
  });
  const save = async (id: string, label: Label): Promise<void> => {
    const item = await labelRun(id, label);
    put((list) => ({ ...list, runs: list.runs.map((run) => (run.id === id ? item : run)) }));
    reload();
  };
  const choose = (run: RunItem, isChosen: boolean): void =>
    setChosen((runs) => [...runs.filter((each) => each.id !== run.id), ...(isChosen ? [run] : [])]);
  const isFiltered = search !== "" || tag !== "";
  return (
    <div class="history">
      <h1 tabIndex={-1}>Runs</h1>
      {(data === null || data.total > 0 || isFiltered) && (
        <RunFilters
          search={search}
          tag={tag}
          tags={data?.tags ?? []}
          total={data?.total ?? null}
          onSearch={(text) => keep({ search: text || null, from: null })}
          onTag={(name) => keep({ tag: name || null, from: null })}
        />
      )}
      {error && <Trouble error={error} again={reload} />}
      {data === null && !error && <Waiting>Looking for runs…</Waiting>}
      {data?.total === 0 && (isFiltered ? <NoMatch /> : <NoRuns />)}
      {data !== null && data.total > 0 && (
        <div aria-busy={isLoading}>
          <RunRows runs={data.runs} chosen={chosen} choose={choose} save={save} />
          <Paging
            from={from}
            shown={data.runs.length}
            total={data.total}
            limit={limit}
            isLoading={isLoading}
            setLimit={setLimit}
          />
        </div>
      )}
      <ChosenBar chosen={chosen} clear={() => setChosen([])} />
    </div>
  );
}

/** Scrolls to the top when other runs are shown. */
function useTopOn(from: number): void {
  const before = useRef(from);
  useEffect(() => {
    if (before.current !== from) scrollTo(0, 0);
    before.current = from;
  }, [from]);
}

interface PagingProps {
  from: number;
  shown: number;
  total: number;
  limit: number;
  isLoading: boolean;
  setLimit: (limit: number) => void;
}

/** Shows more runs below, up to the server's limit. Then links to older runs. */
function Paging({ from, shown, total, limit, isLoading, setLimit }: PagingProps) {
  if (from === 0 && shown >= total) return null;
  const next = SIZES.find((size) => size > limit);
  const older = total - from - shown;
  return (
    <p class="paging">
      {older > 0 && next !== undefined && (
        <button type="button" disabled={isLoading} onClick={() => setLimit(next)}>
          Show {Math.min(next - limit, older)} more
        </button>
      )}
      {older > 0 && next === undefined && <a href={changed({ from: String(from + shown) })}>Older runs</a>}
      {from > 0 && <a href={changed({ from: from > MOST ? String(from - MOST) : null })}>Newer runs</a>}
      <span class="soft">
        {count(from + 1)} to {count(from + shown)} of {count(total)}
      </span>
    </p>
  );
}

function NoMatch() {
  return (
    <Nothing title="No run matches">
      <p>
        Search looks at id, name, host, source, tags, note and commit.{" "}
        <button type="button" onClick={() => keep({ search: null, tag: null, from: null })}>
          Show all runs
        </button>
      </p>
    </Nothing>
  );
}

function NoRuns() {
  return (
    <Nothing title="No runs yet">
      <p>Every run is kept, and listed here. To make one:</p>
      <pre>
        plimsoll run -f locustfile.py -H http://127.0.0.1:8000 -u 50 -r 5 -t 2m{"\n"}
        plimsoll run http://127.0.0.1:8000/ --rate 100/s -t 1m
      </pre>
      <p>
        The first plays the users of a locustfile, the second sends arrivals at a rate. Results of other tools are read
        by <code>plimsoll import FILE</code> and listed among the experiments.
      </p>
    </Nothing>
  );
}
