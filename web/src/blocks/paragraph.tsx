import type { Paragraph as ParagraphData } from "../contract";
import { Prose } from "./prose";

export function Paragraph({ text, tone }: ParagraphData) {
  return (
    <p class={tone === "plain" ? undefined : tone}>
      <Prose text={text} />
    </p>
  );
}
