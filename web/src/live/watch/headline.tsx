import type { JSX } from "preact";
import { Prose } from "../../blocks/prose";
import type { RunHeadline, RunJudgement } from "../../contract";

const QUESTIONS: readonly { part: keyof RunHeadline; text: string }[] = [
  { part: "target", text: "Is the target healthy?" },
  { part: "generator", text: "Is the generator honest?" },
  { part: "bottleneck", text: "What is the bottleneck?" },
];

/** Drawn, so that they look the same everywhere; the title says it in words. */
const SIGNS: Record<RunJudgement["tone"], string> = {
  good: "M5 10.5l3.5 3.5L15 7",
  warning: "M10 5v6.5M10 14.2v.6",
  bad: "M6 6l8 8M14 6l-8 8",
  unknown: "M5.5 10h9",
};

interface Props {
  /** null: it cannot be said yet. */
  headline: RunHeadline | null;
  hasNumbers: boolean;
}

/** The three answers that everybody looks for first. */
export function HeadlineCards({ headline, hasNumbers }: Props): JSX.Element {
  const unsaid = hasNumbers ? "Too early to say" : "Nothing measured yet";
  return (
    <div class="judgements">
      {QUESTIONS.map((each) => (
        <Card key={each.part} question={each.text} judgement={headline?.[each.part] ?? null} unsaid={unsaid} />
      ))}
    </div>
  );
}

interface CardProps {
  question: string;
  judgement: RunJudgement | null;
  unsaid: string;
}

function Card({ question, judgement, unsaid }: CardProps): JSX.Element {
  const tone = judgement?.tone ?? "unknown";
  return (
    <section class={`judgement ${tone}`} aria-label={question}>
      <h2>{question}</h2>
      <p class="judgement-title">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <circle cx="10" cy="10" r="9.2" />
          <path d={SIGNS[tone]} />
        </svg>
        {judgement?.title ?? unsaid}
      </p>
      {judgement && (
        <p class="judgement-text">
          <Prose text={judgement.text} />
        </p>
      )}
      {judgement && judgement.more.length > 0 && (
        <details>
          <summary>More</summary>
          <ul>
            {judgement.more.map((each) => (
              <li key={each}>
                <Prose text={each} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
