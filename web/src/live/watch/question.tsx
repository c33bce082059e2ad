import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useEscape } from "../../shared/use_when";

interface Props {
  text: string;
  yes: string;
  onYes: () => void;
  onNo: () => void;
}

/** Asks for confirmation in place, without covering the numbers. Escape means no. */
export function Question({ text, yes, onYes, onNo }: Props): JSX.Element {
  const first = useRef<HTMLButtonElement>(null);
  useEscape(onNo);
  useEffect(() => first.current?.focus(), []);
  return (
    <div class="panel" role="group" aria-label={yes}>
      <p>{text}</p>
      <p class="buttons">
        <button type="button" class="primary" ref={first} onClick={onYes}>
          {yes}
        </button>
        <button type="button" onClick={onNo}>
          Cancel
        </button>
      </p>
    </div>
  );
}
