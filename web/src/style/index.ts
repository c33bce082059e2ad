/** How everything looks. Colours are those of the charts; the palette is made from the charts' theme at build. */
import "virtual:palette.css";
import "./base.css";
import "./controls.css";
import "./blocks.css";
import "./table.css";
import "./chart.css";
import "./print.css";
