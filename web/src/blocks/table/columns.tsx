import type { Width } from "./widths";

/** Sets the column widths. null: as wide as the content. */
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

/** The minimum width of the table, for the style sheet. A narrower table scrolls sideways. */
export function leastWidth(widths: readonly Width[] | null): string | undefined {
  if (!widths) return undefined;
  const characters = widths.reduce((sum, { least }) => sum + least, 0);
  return `calc(${characters}ch + ${widths.length} * var(--cell))`;
}
