import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const THEME = fileURLToPath(new URL("../../python/plimsoll/report/charts/theme.json", import.meta.url));
const NAME = "virtual:palette.css";

/** The colours of the charts as variables of the style sheet, so that charts and page can never disagree. */
export function palette(): Plugin {
  return {
    name: "plimsoll-palette",
    resolveId: (id) => (id === NAME ? `/${NAME}` : undefined),
    load(id) {
      if (id !== `/${NAME}`) return undefined;
      this.addWatchFile(THEME);
      return paletteOf(readFileSync(THEME, "utf-8"));
    },
  };
}

/** The style sheet for a theme file: light, dark by wish or by the system's, and light again on paper. */
export function paletteOf(theme: string): string {
  const { colours } = JSON.parse(theme) as { colours: Record<"light" | "dark", Record<string, string>> };
  const variables = (mode: "light" | "dark") =>
    Object.entries(colours[mode])
      .map(([name, value]) => `--${name}:${value};`)
      .join("");
  const [light, dark] = [variables("light"), variables("dark")];
  return [
    `:root{color-scheme:light;${light}}`,
    `@media screen and (prefers-color-scheme:dark){:root:not([data-theme="light"]){color-scheme:dark;${dark}}}`,
    `@media screen{:root[data-theme="dark"]{color-scheme:dark;${dark}}}`,
  ].join("\n");
}
