import type { ChartSpec } from "../contract";
import { download, errorText } from "../shared";

const WIDTH = 900;
const SIDE = 16;

/** Downloads a chart as an SVG file, with its title and legend, in the current colours of the page. */
export async function saveImage(spec: ChartSpec, config: Record<string, unknown>, signals: object): Promise<void> {
  const { draw } = await import("./picture");
  const into = document.createElement("div");
  const padded = { ...spec.spec, title: { text: spec.title }, background: "var(--paper)", padding: SIDE };
  try {
    const picture = await draw(into, padded, config, { width: WIDTH, signals: { ...signals }, isWhole: true });
    download(`${spec.name}.svg`, coloured(into.querySelector("svg")?.outerHTML ?? ""), "image/svg+xml");
    picture.end();
  } catch (error) {
    console.error(errorText(error));
  }
}

/** Replaces the page's CSS variables by colours. */
function coloured(svg: string): string {
  const style = getComputedStyle(document.documentElement);
  return svg.replace(/var\((--[\w-]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim());
}
