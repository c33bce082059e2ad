import { type ComponentChildren, toChildArray } from "preact";
import { count } from "../../shared";

/** The filters above a table, with the number of rows that match. */
export function Tools(props: {
  caption: string;
  hasFilter: boolean;
  search: string;
  onSearch(text: string): void;
  words: { label: string; all: readonly string[] } | undefined;
  word: string;
  onWord(word: string): void;
  found: number;
  all: number;
  children?: ComponentChildren;
}) {
  const { words } = props;
  if (!props.hasFilter && !words && !toChildArray(props.children).some(Boolean)) return null;
  return (
    <div class="tools">
      {props.hasFilter && (
        <label>
          Filter{" "}
          <input
            type="search"
            autocomplete="off"
            spellcheck={false}
            value={props.search}
            aria-label={`Filter: ${props.caption}`}
            onInput={(event) => props.onSearch(event.currentTarget.value)}
          />
        </label>
      )}
      {words && words.all.length > 1 && (
        <label>
          {words.label}{" "}
          <select value={props.word} onChange={(event) => props.onWord(event.currentTarget.value)}>
            <option value="">all</option>
            {words.all.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      )}
      {(props.hasFilter || words) && (
        <output class="soft">
          {props.found === props.all ? `${count(props.all)} rows` : `${count(props.found)} of ${count(props.all)} rows`}
        </output>
      )}
      {props.children}
    </div>
  );
}
