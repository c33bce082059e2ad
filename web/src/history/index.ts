import "./history.css";
import "./runs.css";
import "./experiments.css";

export { ComparePage } from "./compare_page";
export { ExperimentPage } from "./experiment_page";
export { ExperimentsPage } from "./experiments_page";
export { RunPage } from "./run_page";
export { RunsPage } from "./runs_page";
export { TrendPage } from "./trend_page";
