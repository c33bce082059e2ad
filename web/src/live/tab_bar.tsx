import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { useWhen } from "../shared/use_when";

export interface TabItem {
  id: string;
  title: string;
  /** Number of items, if it is of interest. */
  count?: string;
}

interface Props {
  label: string;
  tabs: readonly TabItem[];
  chosen: string;
  choose: (id: string) => void;
}

/** Follows the ARIA practices: arrows, Home and End move; Tab stops at the selected tab only. */
export function TabBar({ label, tabs, chosen, choose }: Props): JSX.Element {
  const bar = useRef<HTMLDivElement>(null);
  const widths = tabs.map((each) => each.count?.length ?? 0);
  useWhen([chosen, ...widths].join(), () => {
    // On a phone the tabs are wider than the page. Scroll the selected tab into view.
    const tab = bar.current?.querySelector<HTMLElement>(`#${tabId(chosen)}`);
    if (!bar.current || !tab) return;
    const beyond = tab.offsetLeft + tab.offsetWidth - bar.current.clientWidth;
    bar.current.scrollLeft = Math.min(tab.offsetLeft, Math.max(bar.current.scrollLeft, beyond));
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex((each) => each.id === chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    choose(next.id);
    bar.current?.querySelector<HTMLElement>(`#${tabId(next.id)}`)?.focus();
  };
  return (
    <div role="tablist" tabIndex={-1} aria-label={label} class="tab-bar" ref={bar} onKeyDown={onKeyDown}>
      {tabs.map((each) => (
        <button
          key={each.id}
          type="button"
          role="tab"
          id={tabId(each.id)}
          aria-selected={each.id === chosen}
          aria-controls={each.id === chosen ? panelId(each.id) : undefined}
          tabIndex={each.id === chosen ? 0 : -1}
          onClick={() => choose(each.id)}
        >
          {each.title}
          {each.count && <span class="tab-count"> {each.count}</span>}
        </button>
      ))}
    </div>
  );
}

/** The panel of the selected tab. The others are not in the page, so they cost nothing. */
export function TabPanel({ id, children }: { id: string; children: JSX.Element }): JSX.Element {
  return (
    <div role="tabpanel" id={panelId(id)} aria-labelledby={tabId(id)} tabIndex={0}>
      {children}
    </div>
  );
}

function tabId(id: string): string {
  return `tab-${id}`;
}

function panelId(id: string): string {
  return `panel-${id}`;
}
