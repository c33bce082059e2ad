import type { RunRequest } from "../../contract";

export type ShapeName = RunRequest["shape"];

interface Shape {
  name: ShapeName;
  label: string;
  hint: string;
  /** How it is written with arrivals per second, and with users. */
  examples: Record<RunRequest["model"], string>;
}

export const SHAPES: readonly Shape[] = [
  {
    name: "constant",
    label: "Constant",
    hint: "The same load from beginning to end.",
    examples: { open: "900/s", closed: "50" },
  },
  {
    name: "ramp",
    label: "Ramp",
    hint: "Evenly from one level to another over the run time, which must be given.",
    examples: { open: "100/s..900/s", closed: "10..200" },
  },
  {
    name: "stages",
    label: "Stages",
    hint: "Evenly to each level in its time. The first level may stand without a time.",
    examples: { open: "30s:100/s,1m:900/s", closed: "30s:10,1m:200" },
  },
  {
    name: "steps",
    label: "Steps",
    hint: "Each level for its time, one after the other.",
    examples: { open: "30s:100/s,30s:200/s", closed: "30s:50,30s:100" },
  },
  {
    name: "staircase",
    label: "Staircase",
    hint: "Equal steps up: from a level, by so much, each for so long, so many of them.",
    examples: { open: "from=100/s,step=100/s,each=30s,count=5", closed: "from=10,step=10,each=30s,count=5" },
  },
  {
    name: "spike",
    label: "Spike",
    hint: "A base with one peak: when it comes and how long it holds. The run time must be given.",
    examples: { open: "base=100/s,peak=1000/s,at=30s,hold=10s", closed: "base=10,peak=100,at=30s,hold=10s" },
  },
  {
    name: "sine",
    label: "Sine",
    hint: "Up and down around a mean.",
    examples: { open: "mean=500/s,amplitude=200/s,period=1m", closed: "mean=50,amplitude=20,period=1m" },
  },
  {
    name: "plan",
    label: "As the plan says",
    hint: "The phases of the plan file.",
    examples: { open: "", closed: "" },
  },
];

export function shapeOf(name: ShapeName): Shape {
  const found = SHAPES.find((each) => each.name === name);
  if (!found) throw new Error(`there is no shape ${name}`);
  return found;
}
