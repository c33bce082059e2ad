import type { Plugin } from "vite";

/** A browser reads a script within a page up to what looks like its end. None of these may be in one. */
export function inlinable(): Plugin {
  return {
    name: "plimsoll-inlinable",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        file.code = withoutEnds(file.code);
      }
    },
  };
}

/** The same script; the ends are within texts or regular expressions, where a backslash before / or ! changes nothing. */
export function withoutEnds(code: string): string {
  return code
    .replaceAll("\r\n", "\n")
    .replace(/<\/(script)/gi, "<\\/$1")
    .replaceAll("<!--", "<\\!--");
}
