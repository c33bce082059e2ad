import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ChartSpec } from "../contract";
import { clock } from "../shared";
import { cellAt, courseOf, editsAt, valuesAt } from "./course";

/** Where the reader points in a chart over time: all charts of the same run show it. */
interface Pointed {
  course: string;
  /** Name of the chart that the pointer is in. */
  chart: string;
  second: number;
  /** On the other axis; null where there is none. */
  value: number | null;
  /** Of the window, px. */
  x: number;
  y: number;
}

interface Shown {
  spec: ChartSpec;
  config: Record<string, unknown>;
  hidden: readonly string[];
}

export const pointed = signal<Pointed | null>(null);

/** Charts on the page, by their name, in the order in which they came; another map when one of them is drawn anew. */
const known = signal<ReadonlyMap<string, Shown>>(new Map());

/** Its numbers are among those of the second that is pointed at, for as long as it is on the page. */
export function useKnown(shown: Shown): void {
  const { name } = shown.spec;
  useEffect(() => {
    known.value = new Map(known.peek()).set(name, shown);
  });
  useEffect(() => () => void (known.value = new Map([...known.peek()].filter(([each]) => each !== name))), [name]);
}

/** All numbers of the second that is pointed at, beside the pointer. They are read from the tables otherwise. */
export function PointerTip() {
  const at = pointed.value;
  if (!at) return null;
  const charts = [...known.value.values()].filter(({ spec }) => courseOf(spec)?.course === at.course);
  const own = known.value.get(at.chart);
  const wide = (own && courseOf(own.spec)?.wide) ?? 1;
  const second = Math.floor(at.second / wide) * wide;
  const values = charts.flatMap(({ spec, config, hidden }) => valuesAt(spec, config, second, hidden));
  const cell = own && at.value !== null ? cellAt(own.spec, second, at.value) : "";
  const edits = own ? editsAt(own.spec, second) : [];
  const isRight = at.x > innerWidth / 2;
  const place = {
    ...(isRight ? { right: `${innerWidth - at.x + 16}px` } : { left: `${at.x + 16}px` }),
    ...(at.y > innerHeight / 2 ? { bottom: `${innerHeight - at.y}px` } : { top: `${at.y}px` }),
  };
  return (
    <div class="tip" aria-hidden="true" style={place}>
      <strong>{wide > 1 ? `${clock(second)} to ${clock(second + wide)}` : clock(second)}</strong>
      {edits.map((each) => (
        <p key={each}>Load changed: {each}</p>
      ))}
      {cell && <p>{cell}</p>}
      <table>
        <tbody>
          {values.map(({ name, colour, kind, text }) => (
            <tr key={name}>
              <td>
                <i class={`swatch ${kind}`} style={{ color: colour }} /> {name}
              </td>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
