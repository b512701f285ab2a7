import { expect, test } from "vitest";
import { describeItem } from "./thread-lines.ts";

type Item = Parameters<typeof describeItem>[0];

test.each([
  [
    {
      type: "userMessage",
      id: "a",
      content: [
        { type: "text", text: "hi" },
        { type: "image", url: "x" },
      ],
    },
    { id: "a", who: "you", text: "hi\n[image]" },
  ],
  [
    { type: "agentMessage", id: "b", text: "hello" },
    { id: "b", who: "codex", text: "hello" },
  ],
  [
    { type: "commandExecution", id: "c", command: "ls", exitCode: 2 },
    { id: "c", who: "work", text: "$ ls (exit code 2)" },
  ],
  [
    { type: "fileChange", id: "d", changes: [{ path: "a.ts" }, { path: "b.ts" }] },
    { id: "d", who: "work", text: "Changed a.ts, b.ts" },
  ],
  [{ type: "reasoning", id: "e", summary: [] }, undefined],
  [
    { type: "contextCompaction", id: "f" },
    { id: "f", who: "work", text: "contextCompaction" },
  ],
])("describes %j", (item, line) => {
  expect(describeItem(item as unknown as Item)).toEqual(line);
});
