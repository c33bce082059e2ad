// @vitest-environment node
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { withoutEnds } from "../../build/inlinable.ts";

test("a script contains no text that would close its element", () => {
  const code = withoutEnds('a = "</script>" + "</SCRIPT>" + "<!-- " ;\r\nb = /<!--/;');
  expect(code).not.toMatch(/<\/script|<!--|\r/i);
});

test("the script keeps its meaning", () => {
  const code = withoutEnds('["</script>", "<!--", /<\\/script>|<!--/.test("<!--")]');
  expect(runInNewContext(code)).toEqual(["</script>", "<!--", true]);
});
