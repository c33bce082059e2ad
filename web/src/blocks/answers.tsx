import type { Answers as AnswersData } from "../contract";
import { Chip } from "./chip";
import { Prose } from "./prose";

/** The answer in short. */
export function Answers({ answers }: AnswersData) {
  return (
    <ul class="answers" aria-label="The answer in short">
      {answers.map(({ text, chip, basis }, place) => (
        <li key={place} class={chip ? undefined : "plain"}>
          {chip && (
            <span>
              <Chip chip={chip} />
            </span>
          )}
          <span>
            <Prose text={text} />
          </span>
          {basis && <span class="soft">{basis}</span>}
        </li>
      ))}
    </ul>
  );
}
