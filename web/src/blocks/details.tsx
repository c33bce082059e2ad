import type { Details as DetailsData } from "../contract";
import { Blocks } from "./blocks";
import { Folding } from "./folding";

/** Blocks that open by their summary. A level of the ladder has its own heading. */
export function Details({ summary, blocks, is_open, is_level, soft }: DetailsData) {
  const title = is_level ? <h3>{summary}</h3> : summary;
  return (
    <Folding
      class={is_level ? "level" : "more"}
      startsOpen={is_open}
      opensOnPaper={is_level}
      summary={
        <>
          {title}
          {soft && <span class="soft"> {soft}</span>}
        </>
      }
    >
      <Blocks blocks={blocks} />
    </Folding>
  );
}
