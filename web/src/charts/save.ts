import type { ChartSpec } from "../contract";
import { sayOf } from "../shared";

const WIDTH = 900;
const SIDE = 16;

/** Hands the reader a chart as an SVG file, with its title and legend, in the colours that the page has now. */
export async function saveImage(spec: ChartSpec, config: Record<string, unknown>, signals: object): Promise<void> {
  const { draw } = await import("./picture");
  const into = document.createElement("div");
  const padded = { ...spec.spec, title: { text: spec.title }, background: "var(--paper)", padding: SIDE };
  try {
    const picture = await draw(into, padded, config, { width: WIDTH, signals: { ...signals }, isWhole: true });
    download(`${spec.name}.svg`, coloured(into.querySelector("svg")?.outerHTML ?? ""));
    picture.end();
  } catch (error) {
    console.error(sayOf(error));
  }
}

/** With the colours in place of the page's variables. */
function coloured(svg: string): string {
  const style = getComputedStyle(document.documentElement);
  return svg.replace(/var\((--[\w-]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim());
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
