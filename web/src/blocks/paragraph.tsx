import type { Paragraph as ParagraphData } from "../contract";

export function Paragraph({ text, tone }: ParagraphData) {
  return <p class={tone === "plain" ? undefined : tone}>{text}</p>;
}
