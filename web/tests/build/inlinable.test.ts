// @vitest-environment node
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { withoutEnds } from "../../build/inlinable.ts";

test("a script has nothing in it that would end the element that it is written into", () => {
  const code = withoutEnds('a = "</script>" + "</SCRIPT>" + "<!-- " ;\r\nb = /<!--/;');
  expect(code).not.toMatch(/<\/script|<!--|\r/i);
});

test("what the script says stays the same", () => {
  const code = withoutEnds('["</script>", "<!--", /<\\/script>|<!--/.test("<!--")]');
  expect(runInNewContext(code)).toEqual(["</script>", "<!--", true]);
});
