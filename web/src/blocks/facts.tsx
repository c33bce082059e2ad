import type { Facts as FactsData } from "../contract";

/** Names and values, on one line or as a list. */
export function Facts({ facts, style }: Pick<FactsData, "facts"> & { style: FactsData["style"] | "evidence" }) {
  return (
    <dl class={style}>
      {facts.map(({ name, value }, place) => (
        <div key={place}>
          <dt>{name}</dt>
          <dd>{style === "status" ? <Tile value={value} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The number, and below it in small what stands in brackets behind it. */
function Tile({ value }: { value: string }) {
  const [, number = value, beside] = /^(.*?) \((.*)\)$/.exec(value) ?? [];
  return (
    <>
      {number}
      {beside !== undefined && <span class="beside">{beside}</span>}
    </>
  );
}
