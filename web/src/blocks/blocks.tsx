import type { ReportDocument } from "../contract";
import { Answer } from "./answer";
import { Choice } from "./choice";
import { Details } from "./details";
import { Doubts } from "./doubts";
import { Facts } from "./facts";
import { Figures } from "./figures";
import { Findings } from "./findings";
import { Notes } from "./notes";
import { Paragraph } from "./paragraph";
import { Preformatted } from "./preformatted";
import { TableView } from "./table_view";
import { Tabs } from "./tabs";

export type Block = ReportDocument["head"][number];

/** Blocks in one column. Their order rarely changes while a run grows, so they keep their state by position. */
export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, place) => (
        <OneBlock key={`${block.type} ${nameOf(block)} ${place}`} block={block} />
      ))}
    </>
  );
}

function OneBlock({ block }: { block: Block }) {
  switch (block.type) {
    case "paragraph":
      return <Paragraph {...block} />;
    case "preformatted":
      return <Preformatted {...block} />;
    case "table":
      return <TableView {...block} />;
    case "figures":
      return <Figures {...block} />;
    case "answer":
      return <Answer {...block} />;
    case "facts":
      return <Facts {...block} />;
    case "doubts":
      return <Doubts {...block} />;
    case "findings":
      return <Findings {...block} />;
    case "details":
      return <Details {...block} />;
    case "tabs":
      return <Tabs {...block} />;
    case "choice":
      return <Choice {...block} />;
    case "notes":
      return <Notes {...block} />;
  }
}

function nameOf(block: Block): string {
  if (block.type === "table") return block.table.caption;
  return block.type === "details" ? block.summary : "";
}
