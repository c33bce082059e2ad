import type { ChartSpec, ReportDocument, TableRow, Section, TableData } from "../../src/contract";
import type { Block } from "../../src/blocks";

/** Parts of a document as Python sends them; the compiler compares them with the contract. */

export function chart(name: string, more: Partial<ChartSpec> = {}): ChartSpec {
  const spec = {
    height: 60,
    data: { name: "points" },
    mark: "point",
    encoding: { x: { field: "x", type: "quantitative" } },
    datasets: { points: [{ x: 1 }, { x: 2 }] },
  };
  return {
    name,
    title: `Title of ${name}`,
    description: "What is seen.",
    spec,
    height: 90,
    note: "",
    base: "",
    ...more,
  };
}

export function table(caption: string, rows: TableRow[], note = ""): TableData {
  const columns: TableData["columns"] = [
    { title: "Method", is_text: true, use: "", hint: "", room: "word" },
    { title: "Name", is_text: true, use: "", hint: "", room: "long" },
    { title: "p99 (ms)", is_text: false, use: "", hint: "of all valid runs", room: "" },
    { title: "Verdict", is_text: true, use: "", hint: "", room: "" },
  ];
  return { caption, columns, rows, note };
}

export function row(name: string, p99: string, word = "", kind: TableRow["kind"] = ""): TableRow {
  const verdict = word ? { text: word, tone: "worse", lines: [`why ${name}`], word } : "";
  return { cells: ["GET", name, p99, verdict], kind };
}

export function section(id: string, title: string, blocks: Block[], more: Partial<Section> = {}): Section {
  return { id, title, blocks, in_contents: true, label: "", ...more };
}

export function document(more: Partial<ReportDocument> = {}): ReportDocument {
  return {
    schema: "plimsoll.page",
    version: 1,
    title: "Old against new",
    lines: ["Is the new build as fast?"],
    head: [],
    sections: [],
    charts: [],
    config: {},
    written_by: "Plimsoll 0.1.0",
    refs: [],
    is_growing: false,
    ...more,
  };
}

export const paragraph = (text: string): Block => ({ type: "paragraph", text, tone: "plain" });

export function tableBlock(of: TableData, more: Partial<Extract<Block, { type: "table" }>> = {}): Block {
  return { type: "table", table: of, id: "", has_filter: false, words: [], ...more };
}
