import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { EndpointRow } from "../../contract";
import { count } from "../../shared";
import { naturalOrder } from "./waiting";

/** Maximum number of endpoints in the list. To find others, type a part of the name. */
const OFFERED = 200;

interface Props {
  rows: ReadonlyMap<string, EndpointRow>;
  endpoint: string | null;
  choose: (endpoint: string | null) => void;
}

/** Selects whose charts are shown: all endpoints, or one from a list with a filter. */
export function EndpointChoice({ rows, endpoint, choose }: Props): JSX.Element {
  const [words, setWords] = useState("");
  const keys = useSteadyKeys(rows);
  const found = useMemo(() => matching(keys, words), [keys, words]);
  const offered = found.slice(0, OFFERED);
  if (endpoint !== null && !offered.includes(endpoint)) offered.unshift(endpoint);
  return (
    <>
      <label>
        Charts of{" "}
        <select value={endpoint ?? ""} onChange={(event) => choose(event.currentTarget.value || null)}>
          <option value="">all endpoints</option>
          {offered.map((each) => (
            <option key={each} value={each}>
              {titleOf(each)}
            </option>
          ))}
        </select>
      </label>
      {rows.size > 10 && (
        <>
          <label>
            Narrow the list{" "}
            <input
              type="search"
              value={words}
              placeholder="part of the name"
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </label>
          <output class="soft">
            {count(found.length)} of {count(rows.size)} endpoints
            {found.length > OFFERED && `, of which ${OFFERED} are offered`}
          </output>
        </>
      )}
      {endpoint !== null && (
        <button type="button" onClick={() => choose(null)}>
          Show all endpoints
        </button>
      )}
    </>
  );
}

/** Returns the same list until an endpoint is added or removed. The numbers change all the time. */
function useSteadyKeys(rows: ReadonlyMap<string, EndpointRow>): readonly string[] {
  const kept = useRef<readonly string[]>([]);
  const isSame = kept.current.length === rows.size && kept.current.every((each) => rows.has(each));
  if (!isSame) kept.current = [...rows.keys()];
  return kept.current;
}

/** The name of the endpoint with this key; the key itself if it was typed into the address. */
export function titleOf(key: string): string {
  try {
    const parts: unknown = JSON.parse(key);
    return Array.isArray(parts) ? parts.filter(Boolean).join(" ") : key;
  } catch {
    return key;
  }
}

export function matching(keys: readonly string[], words: string): string[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return keys
    .filter((key) => {
      const title = titleOf(key).toLowerCase();
      return wanted.every((each) => title.includes(each));
    })
    .sort((a, b) => naturalOrder.compare(titleOf(a), titleOf(b)));
}
