import { Figure } from "../charts";
import type { Figures as FiguresData } from "../contract";
import { usePictures } from "./pictures";

/** Charts, side by side where there is room for two. */
export function Figures({ charts, wide }: Pick<FiguresData, "charts" | "wide">) {
  const pictures = usePictures();
  const found = charts.map((name) => pictures.charts.get(name)).filter((chart) => chart !== undefined);
  if (!found.length) return null;
  return (
    <div class={wide ? "wide" : found.length === 1 ? "pair alone" : "pair"}>
      {found.map((chart) => (
        <Figure key={chart.name} spec={chart} config={pictures.config} />
      ))}
    </div>
  );
}
