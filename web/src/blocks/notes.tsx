import type { Notes as NotesData } from "../contract";
import { Prose } from "./prose";

/** How to read the numbers. */
export function Notes({ marks, lines }: NotesData) {
  return (
    <>
      {marks.length > 0 && (
        <p class="note">
          {marks.map((mark) => (
            <span key={mark} class="line">
              {mark}
            </span>
          ))}
        </p>
      )}
      <ul class="notes">
        {lines.map((line) => (
          <li key={line}>
            <Prose text={line} />
          </li>
        ))}
      </ul>
    </>
  );
}
