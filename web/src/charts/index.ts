/** Charts: `Figure` has a title, `Chart` has none. */
export { type ChartHandle, loadCharts } from "./canvas";
export { Chart } from "./chart";
export { endOf } from "./course";
export { Figure } from "./figure";
export type { Span } from "./zoom";
