import type { CellItem } from "../contract";

export interface CellState {
  word: string;
  /** The symbol, so that colour is not the only sign. */
  shape: string;
  tone: "good" | "bad" | "doubtful" | "busy" | "open";
  /** One sentence about a cell in this state. */
  meaning: string;
}

/** In display order. */
const STATES: Record<string, CellState> = {
  valid: { word: "valid", shape: "●", tone: "good", meaning: "measured, and the numbers may be used" },
  invalid: { word: "invalid", shape: "✕", tone: "doubtful", meaning: "measured under another load than was asked for" },
  failed: { word: "failed", shape: "▲", tone: "bad", meaning: "nothing was measured" },
  running: { word: "running", shape: "◐", tone: "busy", meaning: "under way" },
  pending: { word: "pending", shape: "○", tone: "open", meaning: "still to come" },
  superseded: { word: "superseded", shape: "–", tone: "open", meaning: "taken again later" },
};

export const STATE_ORDER = Object.keys(STATES);

/** An unknown state shows its own name. */
export function stateOf(state: string): CellState {
  return STATES[state] ?? { word: state, shape: "?", tone: "open", meaning: state };
}

/** The number of cells in each state, in display order, without empty states. */
export function counted(cells: Readonly<Record<string, number>>): [string, number][] {
  const known = STATE_ORDER.filter((state) => cells[state]);
  const others = Object.keys(cells).filter((state) => cells[state] && !STATE_ORDER.includes(state));
  return [...known, ...others.sort()].map((state) => [state, cells[state] ?? 0]);
}

/** "5 valid, 2 failed"; "no cells" for none. */
export function inWords(cells: Readonly<Record<string, number>>): string {
  const words = counted(cells).map(([state, count]) => `${String(count)} ${stateOf(state).word}`);
  return words.join(", ") || "no cells";
}

/** The cells whose problem needs an explanation. */
export function isDoubtful(cell: CellItem): boolean {
  return cell.state === "invalid" || cell.state === "failed";
}
