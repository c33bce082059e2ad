import { Figure } from "../charts";
import type { Figures as FiguresData } from "../contract";
import { usePictures } from "./pictures";

/** Charts, two side by side where they fit. */
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
