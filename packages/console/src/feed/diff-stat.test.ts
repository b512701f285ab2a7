import { expect, test } from "vitest";
import { diffStat } from "./diff-stat.ts";

test("counts files and lines, but not the lines that name the files", () => {
  const diff = `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,2 +1,3 @@
-one
+two
++++three
 keep
diff --git a/b b/b
--- /dev/null
+++ b/b
@@ -0,0 +1 @@
+four`;
  expect(diffStat(diff)).toEqual({ files: 2, added: 3, removed: 1 });
  expect(diffStat("")).toEqual({ files: 0, added: 0, removed: 0 });
});
