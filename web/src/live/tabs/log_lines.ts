import type { LogLine } from "../../contract";

export const LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR"] as const;
export type Level = (typeof LEVELS)[number];

/** Python's level names by severity. Unknown levels count as INFO. */
const ORDER: Record<string, number> = { DEBUG: 0, INFO: 1, WARNING: 2, WARN: 2, ERROR: 3, CRITICAL: 4, FATAL: 4 };

export function weightOf(level: string): number {
  return ORDER[level.toUpperCase()] ?? 1;
}

/** Lines of this level or higher that contain all the words. */
export function chosen(log: readonly LogLine[], level: Level, words: string): readonly LogLine[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (level === "DEBUG" && !wanted.length) return log;
  const least = weightOf(level);
  return log.filter((line) => {
    if (weightOf(line.level) < least) return false;
    const text = line.text.toLowerCase();
    return wanted.every((each) => text.includes(each));
  });
}
