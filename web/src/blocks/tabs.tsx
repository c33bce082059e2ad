import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import type { Tabs as TabsData } from "../contract";
import { Blocks } from "./blocks";
import { printing } from "./printing";

/** A tab list that follows the ARIA practices: arrows, Home and End move; Tab stops at the selected tab only. */
export function TabList(props: {
  label: string;
  titles: readonly string[];
  children(place: number): ComponentChildren;
}) {
  const { label, titles } = props;
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [picked, setPicked] = useState(0);
  const chosen = Math.min(picked, titles.length - 1);

  const onKeyDown = (event: KeyboardEvent) => {
    const last = titles.length - 1;
    const to = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + titles.length) % titles.length;
    setPicked(next);
    list.current?.querySelectorAll("button")[next]?.focus();
  };

  return (
    <>
      {/* eslint-disable-next-line jsx-a11y/interactive-supports-focus -- its tabs are focused, not the list */}
      <div role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {titles.map((title, place) => (
          <button
            key={place}
            type="button"
            role="tab"
            id={`${id}-tab-${place}`}
            aria-controls={`${id}-panel-${place}`}
            aria-selected={place === chosen}
            tabIndex={place === chosen ? 0 : -1}
            onClick={() => setPicked(place)}
          >
            {title}
          </button>
        ))}
      </div>
      {titles.map((title, place) => (
        <div
          key={place}
          role="tabpanel"
          id={`${id}-panel-${place}`}
          aria-labelledby={`${id}-tab-${place}`}
          tabIndex={0}
          hidden={place !== chosen && !printing.value}
        >
          <h3 class="on-paper">{title}</h3>
          {props.children(place)}
        </div>
      ))}
    </>
  );
}

/** Parts of which one is visible. */
export function Tabs({ label, parts }: TabsData) {
  return (
    <TabList label={label} titles={parts.map((part) => part.title)}>
      {(place) => <Blocks blocks={parts[place]?.blocks ?? []} />}
    </TabList>
  );
}
