import type { ComponentChildren, JSX } from "preact";

/**
 * A command in backticks, or an option. Backticks around anything else are plain text: endpoint names may contain them.
 */
const COMMANDS = /`((?:plimsoll |--)[^`]*)`|(?<![\w-])(--[a-z][a-z-]*)/g;

/** Text with commands set as code. A line never breaks inside an option's dashes. */
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
