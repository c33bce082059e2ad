import type { Answer as AnswerData } from "../contract";

/** The answer: one to four sentences. The first one is larger; the others are a list below it. */
export function Answer({ sentences }: AnswerData) {
  const [first = "", ...others] = sentences;
  return (
    <section class="answer" aria-label="The answer">
      <p>{named(first)}</p>
      {others.length > 0 && (
        <ul>
          {others.map((sentence) => (
            <li key={sentence}>{named(sentence)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Names stand between backticks. */
function named(sentence: string) {
  return sentence.split(/`([^`]+)`/).map((part, place) => (place % 2 ? <code key={place}>{part}</code> : part));
}
