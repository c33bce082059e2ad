/** The style of all pages. The build generates the palette from the theme of the charts. */
import "virtual:palette.css";
import "./base.css";
import "./controls.css";
import "./blocks.css";
import "./table.css";
import "./chart.css";
import "./print.css";
