import type { Facts as FactsData } from "../contract";

/** Names and values, on one line or as a list. */
export function Facts({ facts, style }: Pick<FactsData, "facts"> & { style: FactsData["style"] | "evidence" }) {
  return (
    <dl class={style}>
      {facts.map(({ name, value }, place) => (
        <div key={place}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
