import type { JSX } from "preact";
import type { Figure } from "./figures";

/** Names and numbers, as a list for screen readers. */
export function FigureList({ figures }: { figures: readonly Figure[] }): JSX.Element {
  return (
    <dl class="figures">
      {figures.map((each) => (
        <div key={each.label} class={each.isBad ? "bad" : ""}>
          <dt>{each.label}</dt>
          <dd>
            <span class="value">{each.value}</span>
            {each.unit && <span class="unit"> {each.unit}</span>}
            {each.more && <span class="beside">{each.more}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
