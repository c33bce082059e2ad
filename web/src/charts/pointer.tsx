import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ChartSpec } from "../contract";
import { clock } from "../shared";
import { cellAt, courseOf, editsAt, valuesAt } from "./course";

/** The position of the pointer in a chart over time. All charts of the same run show it. */
interface Pointed {
  course: string;
  /** Name of the chart under the pointer. */
  chart: string;
  second: number;
  /** Value on the y axis; null if there is none. */
  value: number | null;
  /** In window coordinates, px. */
  x: number;
  y: number;
}

interface Shown {
  spec: ChartSpec;
  config: Record<string, unknown>;
  hidden: readonly string[];
}

export const pointed = signal<Pointed | null>(null);

/** Charts on the page by name, in the order of their arrival. A redrawn chart makes a new map. */
const known = signal<ReadonlyMap<string, Shown>>(new Map());

/** Registers a chart while it is on the page, so that its values show at the pointer. */
export function useKnown(shown: Shown): void {
  const { name } = shown.spec;
  useEffect(() => {
    known.value = new Map(known.peek()).set(name, shown);
  });
  useEffect(() => () => void (known.value = new Map([...known.peek()].filter(([each]) => each !== name))), [name]);
}

/** The values at the second under the pointer, next to the pointer. Tables offer the same values to other readers. */
export function PointerTip() {
  const at = pointed.value;
  if (!at) return null;
  const charts = [...known.value.values()].filter(({ spec }) => courseOf(spec)?.course === at.course);
  const own = known.value.get(at.chart);
  const wide = (own && courseOf(own.spec)?.wide) ?? 1;
  const second = Math.floor(at.second / wide) * wide;
  const groups = charts
    .map(({ spec, config, hidden }) => ({ title: spec.title, values: valuesAt(spec, config, second, hidden) }))
    .filter(({ values }) => values.length > 0);
  const cell = own && at.value !== null ? cellAt(own.spec, second, at.value) : "";
  const edits = own ? editsAt(own.spec, second) : [];
  const isRight = at.x > innerWidth / 2;
  const place = {
    ...(isRight ? { right: `${innerWidth - at.x + 16}px` } : { left: `${at.x + 16}px` }),
    ...(at.y > innerHeight / 2 ? { bottom: `${innerHeight - at.y + 24}px` } : { top: `${at.y + 24}px` }),
  };
  return (
    <div class="tip" aria-hidden="true" style={place}>
      <strong>{wide > 1 ? `${clock(second)} to ${clock(second + wide)}` : clock(second)}</strong>
      {edits.map((each) => (
        <p key={each}>Load changed: {each}</p>
      ))}
      {cell && <p>{cell}</p>}
      <table>
        {groups.map(({ title, values }) => (
          <tbody key={title}>
            {groups.length > 1 && (
              <tr>
                <td colSpan={2} class="soft">
                  {title}
                </td>
              </tr>
            )}
            {values.map(({ name, colour, kind, text }) => (
              <tr key={name}>
                <td>
                  <i class={`swatch ${kind}`} style={{ color: colour }} /> {name}
                </td>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}
