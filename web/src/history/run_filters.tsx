import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  search: string;
  tag: string;
  /** All that are in use. */
  tags: readonly string[];
  /** How many runs match; null while nobody knows. */
  total: number | null;
  onSearch: (text: string) => void;
  onTag: (tag: string) => void;
}

/** ms without a keystroke after which the server is asked. */
const PAUSE = 200;

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

/** What is typed is told once nobody has typed for a moment. */
export function SearchField({ label, value, onSearch }: FieldProps) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const told = useRef(value);
  useEffect(() => {
    // The address may have changed by other means: the Back button, a link.
    if (value !== told.current) setText(value);
    told.current = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const tell = (now: string): void => {
    told.current = now.trim();
    onSearch(told.current);
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
        timer.current = setTimeout(() => tell(now), PAUSE);
      }}
    />
  );
}
