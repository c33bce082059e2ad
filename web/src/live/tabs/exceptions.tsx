import type { JSX } from "preact";
import type { ExceptionItem } from "../../contract";
import { count } from "../../shared";
import { Empty } from "./empty";
import type { Fresh } from "./fresh";

/** Exceptions that the users' code has raised, with tracebacks. */
export function Exceptions({ fresh }: { fresh: Fresh<readonly ExceptionItem[]> }): JSX.Element {
  const { value, problem } = fresh;
  if (!value?.length) {
    return <Empty fresh={fresh} text="No exception: the users' code has raised none." />;
  }
  return (
    <>
      {problem && <p class="problem">{problem}</p>}
      <ul class="exceptions">
        {value.map((each, place) => (
          <li key={each.traceback + each.message}>
            <h3>
              {each.message}{" "}
              <span class="soft">
                {count(each.count)} {each.count === 1 ? "time" : "times"}
                {each.workers.length > 1 && ` in ${each.workers.length} workers`}
              </span>
            </h3>
            <details open={place === 0}>
              <summary>Traceback</summary>
              <pre tabIndex={0}>{each.traceback}</pre>
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}
