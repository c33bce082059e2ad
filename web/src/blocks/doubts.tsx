import type { Doubts as DoubtsData } from "../contract";
import { Prose } from "./prose";

/** Reasons to doubt the numbers. */
export function Doubts({ title, bad, lines, small }: DoubtsData) {
  return (
    <div class={`doubts${bad ? " bad" : ""}`}>
      <h2>{title}</h2>
      {lines.length > 0 && (
        <ul>
          {lines.map((line) => (
            <li key={line}>
              <Prose text={line} />
            </li>
          ))}
        </ul>
      )}
      {small.map((line) => (
        <p key={line} class="soft">
          {line}
        </p>
      ))}
    </div>
  );
}
