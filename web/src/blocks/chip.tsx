import type { Chip as ChipData } from "../contract";
import { Prose } from "./prose";

/** A verdict with its details. onToggle is called when the details open or close. */
export function Chip(props: {
  chip: ChipData;
  isOpen?: boolean | undefined;
  onToggle?: ((isOpen: boolean) => void) | undefined;
}) {
  const { chip, isOpen, onToggle } = props;
  const word = <span class={`chip ${chip.tone}`}>{chip.text}</span>;
  if (!chip.lines.length) return word;
  return (
    <details class="verdict" open={isOpen} onToggle={(event) => onToggle?.(event.currentTarget.open)}>
      <summary>{word}</summary>
      {chip.lines.map((line) => (
        <p key={line}>
          <Prose text={line} />
        </p>
      ))}
    </details>
  );
}
