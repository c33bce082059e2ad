import type { Answer as AnswerData } from "../contract";

/** The answer in one to four sentences, in larger type. Names are in backticks. */
export function Answer({ sentences }: AnswerData) {
  const parts = sentences.join(" ").split(/`([^`]+)`/);
  return (
    <p class="answer" aria-label="The answer">
      {parts.map((part, place) => (place % 2 ? <code key={place}>{part}</code> : part))}
    </p>
  );
}
