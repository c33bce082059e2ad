import { useState } from "preact/hooks";
import type { Choice as ChoiceData } from "../contract";
import { Blocks } from "./blocks";

/** Shows one of many parts. A list selects which. */
export function Choice({ label, parts }: ChoiceData) {
  const [picked, setPicked] = useState(0);
  const chosen = Math.min(picked, parts.length - 1);
  const part = parts[chosen];
  return (
    <>
      {parts.length > 1 && (
        <div class="tools">
          <label>
            {label}{" "}
            <select value={chosen} onChange={(event) => setPicked(Number(event.currentTarget.value))}>
              {parts.map((each, place) => (
                <option key={place} value={place}>
                  {each.title}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      {part && <Blocks key={chosen} blocks={part.blocks} />}
    </>
  );
}
