import type { Answer as AnswerData } from "../contract";

/** The answer: one to four sentences, larger than what follows. Names stand between backticks. */
export function Answer({ sentences }: AnswerData) {
  const parts = sentences.join(" ").split(/`([^`]+)`/);
  return (
    <p class="answer" aria-label="The answer">
      {parts.map((part, place) => (place % 2 ? <code key={place}>{part}</code> : part))}
    </p>
  );
}
