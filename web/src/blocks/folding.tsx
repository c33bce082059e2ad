import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { printing } from "./printing";

/** What is opened by its summary. opensOnPaper: it is open when the page is printed, whatever it is on the screen. It
 * opens, too, when startsOpen becomes true: something in it is wrong. */
export function Folding(props: {
  summary: ComponentChildren;
  class?: string | undefined;
  startsOpen?: boolean | undefined;
  opensOnPaper?: boolean | undefined;
  children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(props.startsOpen ?? false);
  useEffect(() => {
    if (props.startsOpen) setOpen(true);
  }, [props.startsOpen]);
  const isForced = props.opensOnPaper === true && printing.value;
  return (
    <details
      class={props.class}
      open={isOpen || isForced}
      onToggle={(event) => !printing.peek() && setOpen(event.currentTarget.open)}
    >
      <summary>{props.summary}</summary>
      {props.children}
    </details>
  );
}
