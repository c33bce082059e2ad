import { defineConfig } from "vite";
import { inlinable } from "./build/inlinable.ts";
import { palette } from "./build/palette.ts";
import { slim } from "./build/slim.ts";

/** The report: one classic script and one style sheet. Python writes both into the file. */
export default defineConfig({
  plugins: [palette(), inlinable()],
  resolve: { alias: slim },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  define: { "process.env.NODE_ENV": '"production"' },
  publicDir: false,
  build: {
    outDir: "../python/plimsoll/web",
    emptyOutDir: false,
    target: "es2022",
    chunkSizeWarningLimit: 1000,
    lib: {
      entry: "src/report/main.tsx",
      name: "PlimsollReport",
      formats: ["iife"],
      fileName: () => "report.js",
      cssFileName: "report",
    },
  },
});
