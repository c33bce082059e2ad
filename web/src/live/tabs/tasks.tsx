import type { JSX } from "preact";
import type { TaskRatio } from "../../contract";
import { share } from "../../shared";
import { Empty } from "./empty";
import type { Fresh } from "./fresh";

interface Row {
  depth: number;
  item: TaskRatio;
}

/** The share of each user class and task: a tree, as a table with bars of equal length. */
export function Tasks({ fresh }: { fresh: Fresh<readonly TaskRatio[]> }): JSX.Element {
  if (!fresh.value?.length) {
    return <Empty fresh={fresh} text="There are no tasks: native users go through the flows of their plan." />;
  }
  return (
    <div class="table region" role="region" aria-label="Ratio of tasks" tabIndex={0}>
      <table class="tasks">
        <caption>Ratio of tasks</caption>
        <thead>
          <tr>
            <th scope="col" class="text">
              Class or task
            </th>
            <th scope="col">of its parent</th>
            <th scope="col">of everything</th>
            <th scope="col" class="text bars" aria-hidden="true" />
          </tr>
        </thead>
        <tbody>
          {rowsOf(fresh.value, 0).map(({ item, depth }, place) => (
            <tr key={place} class={depth ? "" : "class"}>
              <th scope="row" class={`text depth-${Math.min(depth, 4)}`}>
                {item.name}
              </th>
              <td>{share(item.ratio, 1)}</td>
              <td>{share(item.total, 1)}</td>
              <td class="bars" aria-hidden="true">
                <meter min={0} max={1} value={item.total} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function rowsOf(items: readonly TaskRatio[], depth: number): Row[] {
  return items.flatMap((item) => [{ depth, item }, ...rowsOf(item.tasks, depth + 1)]);
}
