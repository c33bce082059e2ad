import type { Test } from "../contract";
import type { Status } from "../shared";
import type { Connection } from "./link";

interface Word {
  text: string;
  /** Shown next to the word, with the same meaning. */
  tone: "busy" | "good" | "warning" | "bad" | "over";
}

const WORDS: Record<Status, Word> = {
  preparing: { text: "Preparing", tone: "busy" },
  spawning: { text: "Starting users", tone: "busy" },
  running: { text: "Running", tone: "good" },
  stopping: { text: "Stopping", tone: "busy" },
  finished: { text: "Finished", tone: "over" },
  stopped: { text: "Stopped", tone: "over" },
  failed: { text: "Failed", tone: "bad" },
  interrupted: { text: "Interrupted", tone: "warning" },
  damaged: { text: "Damaged", tone: "bad" },
};

const GOING: readonly Status[] = ["preparing", "spawning", "running", "stopping"];
const MEASURING: readonly Status[] = ["spawning", "running", "stopping"];

/** connection: if it is not open, the last status may be old. */
export function wordOf(status: Status, connection: Connection["state"] = "open"): Word {
  if (!GOING.includes(status)) return WORDS[status];
  if (connection === "lost") return { text: "Connection lost", tone: "warning" };
  return connection === "ended" ? { text: "Process ended", tone: "over" } : WORDS[status];
}

/** The run has not ended. */
export function isUnfinished(test: Test | null): boolean {
  return test !== null && GOING.includes(test.status);
}

/** The run sends an update every second. */
export function isMeasuring(test: Test | null): boolean {
  return test !== null && MEASURING.includes(test.status);
}

/** The text to announce when the run changes; "" for none. */
export function announcementOf(before: Test | null, now: Test | null): string {
  if (!now || (before?.number === now.number && before.status === now.status)) return "";
  return [wordOf(now.status).text, now.message].filter(Boolean).join(". ");
}
