import type { Width } from "./widths";

/** How wide the columns are; null: as wide as what is in them. */
export function Columns({ widths }: { widths: readonly Width[] | null }) {
  if (!widths) return null;
  return (
    <colgroup>
      {widths.map(({ least, isOpen }, place) => (
        <col key={place} style={isOpen ? undefined : { width: `calc(${least}ch + var(--cell))` }} />
      ))}
    </colgroup>
  );
}

/** What a table with such columns needs at least, for the style sheet; below that it is moved sideways. */
export function leastWidth(widths: readonly Width[] | null): string | undefined {
  if (!widths) return undefined;
  const characters = widths.reduce((sum, { least }) => sum + least, 0);
  return `calc(${characters}ch + ${widths.length} * var(--cell))`;
}
