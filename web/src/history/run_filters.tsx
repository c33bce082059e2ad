import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  search: string;
  tag: string;
  /** All tags in use. */
  tags: readonly string[];
  /** Number of matching runs; null while it is unknown. */
  total: number | null;
  onSearch: (text: string) => void;
  onTag: (tag: string) => void;
}

/** ms without a keystroke before the search starts. */
const DEBOUNCE_MS = 200;

export function RunFilters({ search, tag, tags, total, onSearch, onTag }: Props) {
  const known = tags.includes(tag) || !tag ? tags : [tag, ...tags];
  return (
    <form class="filters" role="search" aria-label="Runs" onSubmit={(event) => event.preventDefault()}>
      <SearchField label="Search runs" value={search} onSearch={onSearch} />
      <label>
        <span>Tag</span>
        <select value={tag} onChange={(event) => onTag(event.currentTarget.value)}>
          <option value="">all</option>
          {known.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <output class="soft" aria-live="polite">
        {total === null ? "" : total === 1 ? "1 run" : `${total.toLocaleString("en")} runs`}
      </output>
    </form>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onSearch: (text: string) => void;
}

/** A search field. Calls onSearch after a pause in typing. */
export function SearchField({ label, value, onSearch }: FieldProps) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const reported = useRef(value);
  useEffect(() => {
    // The Back button or a link may have changed the address.
    if (value !== reported.current) setText(value);
    reported.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = (now: string): void => {
    reported.current = now.trim();
    onSearch(reported.current);
  };
  return (
    <input
      type="search"
      aria-label={label}
      placeholder="id, name, host, tag, note, commit"
      value={text}
      onInput={(event) => {
        const now = event.currentTarget.value;
        setText(now);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => tell(now), DEBOUNCE_MS);
      }}
    />
  );
}
