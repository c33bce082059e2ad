/** Pictures: `Figure` with a title, `Chart` without. */
export { type ChartHandle, loadCharts } from "./canvas";
export { Chart } from "./chart";
export { endOf } from "./course";
export { Figure } from "./figure";
