import type { ComponentChildren, JSX } from "preact";

/** A command in backticks, or an option. Other backticks are the text's own: names of endpoints may have some. */
const COMMANDS = /`((?:plimsoll |--)[^`]*)`|(?<![\w-])(--[a-z][a-z-]*)/g;

/** Sentences in which commands look like commands, and no line ends between the dashes of an option and its name. */
export function Prose({ text }: { text: string }): JSX.Element {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const found of text.matchAll(COMMANDS)) {
    const [all, command, option] = found;
    const set = command ? <code>{command}</code> : <code class="option">{option}</code>;
    parts.push(text.slice(end, found.index), set);
    end = found.index + all.length;
  }
  return <>{[...parts, text.slice(end)]}</>;
}
