import type { Series } from "./course";

interface Props {
  series: readonly Series[];
  /** Names of lines that are off. */
  hidden: readonly string[];
  toggle: (name: string) => void;
}

/** The colours and their names. A click switches a line off or on. */
export function Legend({ series, hidden, toggle }: Props) {
  return (
    <ul class="legend">
      {series.map(({ name, colour, kind }) => {
        const text = (
          <>
            <i class={`swatch ${kind}`} style={{ color: colour }} /> {name}
          </>
        );
        return (
          <li key={name}>
            {kind === "shade" ? (
              text
            ) : (
              <button type="button" aria-pressed={!hidden.includes(name)} onClick={() => toggle(name)}>
                {text}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
