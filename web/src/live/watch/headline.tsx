import type { JSX } from "preact";
import { Folding } from "../../blocks/folding";
import { Prose } from "../../blocks/prose";
import type { RunHeadline, RunJudgement } from "../../contract";

const QUESTIONS: readonly { part: keyof RunHeadline; text: string }[] = [
  { part: "target", text: "Is the target healthy?" },
  { part: "generator", text: "Is this computer fast enough?" },
  { part: "bottleneck", text: "What is the bottleneck?" },
];

/** Icons, so that they look the same everywhere. The title has the text. */
const SIGNS: Record<RunJudgement["tone"], string> = {
  good: "M5 10.5l3.5 3.5L15 7",
  warning: "M10 5v6.5M10 14.2v.6",
  bad: "M6 6l8 8M14 6l-8 8",
  unknown: "M5.5 10h9",
};

const NEEDS_ATTENTION: ReadonlySet<RunJudgement["tone"]> = new Set(["warning", "bad"]);

interface Props {
  /** null: not known yet. */
  headline: RunHeadline | null;
  hasNumbers: boolean;
  /** Shows only the titles. */
  isFolded: boolean;
}

/** The three main answers: a line and a number each. Their reasons open on demand, those of a target with a fault at
 * once: they are what the report of the run begins with. */
export function HeadlineCards({ headline, hasNumbers, isFolded }: Props): JSX.Element {
  const unsaid: RunJudgement = {
    tone: "unknown",
    title: hasNumbers ? "Too early to say" : "Nothing measured yet",
    text: "",
    more: [],
    figure: "",
  };
  const cards = QUESTIONS.map(({ part, text }) => {
    const judgement = headline?.[part] ?? unsaid;
    return { question: text, judgement, startsOpen: part === "target" && NEEDS_ATTENTION.has(judgement.tone) };
  });
  const all = (
    <div class="judgements">
      {cards.map((each) => (
        <Card key={each.question} {...each} />
      ))}
    </div>
  );
  if (!isFolded) return all;
  const titles = cards.map(({ question, judgement }) => (
    <span key={question} class={`judgement-title ${judgement.tone}`}>
      <Sign tone={judgement.tone} /> {judgement.title}
    </span>
  ));
  return (
    <Folding class="judgements-folded" summary={titles}>
      {all}
    </Folding>
  );
}

function Card(props: { question: string; judgement: RunJudgement; startsOpen: boolean }): JSX.Element {
  const { question, judgement, startsOpen } = props;
  const { tone, title, text, more, figure } = judgement;
  const line = (
    <>
      <span class="question">{question}</span>
      <span class="judgement-title" title={title}>
        <Sign tone={tone} /> {title}
      </span>
      <span class="figure">{figure}</span>
    </>
  );
  return (
    <section class={`judgement ${tone}`} aria-label={question}>
      {text ? (
        <Folding summary={line} startsOpen={startsOpen}>
          <p>
            <Prose text={text} />
          </p>
          <ul>
            {more.map((each) => (
              <li key={each}>
                <Prose text={each} />
              </li>
            ))}
          </ul>
        </Folding>
      ) : (
        <div class="line">{line}</div>
      )}
    </section>
  );
}

function Sign({ tone }: { tone: RunJudgement["tone"] }): JSX.Element {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <circle cx="10" cy="10" r="9.2" />
      <path d={SIGNS[tone]} />
    </svg>
  );
}
