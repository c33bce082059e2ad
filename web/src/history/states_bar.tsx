import { counted, inWords, stateOf } from "./cell_states";

/** The number of cells in each state, as a bar and as text. */
export function StatesBar({ cells }: { cells: Readonly<Record<string, number>> }) {
  const counts = counted(cells);
  return (
    <span class="states">
      <span class="states-bar" aria-hidden="true">
        {counts.map(([state, count]) => (
          <span key={state} class={`part ${stateOf(state).tone} ${state}`} style={{ flexGrow: count }} />
        ))}
      </span>
      <span>
        {counts.length === 0
          ? inWords(cells)
          : counts.map(([state, count], place) => (
              <span key={state} class={`is-at ${stateOf(state).tone}`}>
                {place > 0 && ", "}
                <span aria-hidden="true">{stateOf(state).shape} </span>
                {count} {stateOf(state).word}
              </span>
            ))}
      </span>
    </span>
  );
}
