import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

interface Props {
  title: string;
  /** The content. It calls close after a choice. */
  children: (close: () => void) => ComponentChildren;
}

/** A button that opens a panel below it, over the page. Escape or a click outside closes the panel. */
export function Dropdown({ title, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    const around = box.current;
    if (!isOpen || !around) return undefined;
    around.querySelector("input")?.focus();
    const onPointer = (event: Event): void => {
      if (event.target instanceof Node && !around.contains(event.target)) setOpen(false);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("pointerdown", onPointer);
    around.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("pointerdown", onPointer);
      around.removeEventListener("keydown", onKey);
    };
  }, [isOpen]);
  return (
    <div class="dropdown" ref={box}>
      <button type="button" ref={button} aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {title}
      </button>
      <div id={id} class="popover" role="group" aria-label={title} hidden={!isOpen}>
        {isOpen && children(() => setOpen(false))}
      </div>
    </div>
  );
}
