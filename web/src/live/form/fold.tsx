import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** It opens by itself when something is wrong in it; afterwards it is the reader's. */
export function Fold(props: {
  summary: string;
  isOpen: boolean;
  class?: string | undefined;
  children: ComponentChildren;
}): JSX.Element {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (props.isOpen && details.current) details.current.open = true;
  }, [props.isOpen]);
  return (
    <details class={props.class ?? "fold"} ref={details}>
      <summary>{props.summary}</summary>
      {props.children}
    </details>
  );
}
