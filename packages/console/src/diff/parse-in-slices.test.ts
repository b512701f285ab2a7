import { expect, it } from "vitest";
import { parseDiff } from "./parse-diff.ts";
import { parseInSlices } from "./parse-in-slices.ts";

const LINES = 200_000;
const text = `--- a/x\n+++ b/x\n@@ -0,0 +1,${LINES} @@\n${"+a line of a generated file\n".repeat(LINES)}`;

it("parses a large diff as a whole", async () => {
  const { files, rows } = await parseInSlices(parseDiff(text), new AbortController().signal);
  expect(files).toMatchObject([{ path: "x", added: LINES }]);
  expect(rows.at(LINES)).toEqual({
    kind: "added",
    text: "a line of a generated file",
    oldLine: 0,
    newLine: LINES,
  });
});

it("stops when it is aborted", async () => {
  const controller = new AbortController();
  controller.abort();
  await expect(parseInSlices(parseDiff(text.repeat(5)), controller.signal)).rejects.toThrow("aborted");
});
