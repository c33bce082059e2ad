import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { printing } from "./printing";

/**
 * A part that opens by its summary. opensOnPaper: it is open in print. It also opens when startsOpen becomes true,
 * because something in it needs attention.
 */
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
