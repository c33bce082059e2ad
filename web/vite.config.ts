import { defineConfig } from "vitest/config";
import { palette } from "./build/palette.ts";
import { slim } from "./build/slim.ts";

const SERVER = "http://127.0.0.1:8089";

/** The live page. Paths are relative, so that any base path works. */
export default defineConfig({
  base: "./",
  plugins: [palette()],
  resolve: { alias: slim },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../python/plimsoll/web/live",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
  },
  server: { host: "127.0.0.1", proxy: { "/api": SERVER, "/stats": SERVER, "/login": SERVER } },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"], testTimeout: 30_000 },
});
