import type { CodexEvent, v2 } from "codexkit";
import { expect, test } from "vitest";
import { toNativeCall } from "./native-tools.ts";
import { type TranscriptEntry, TranscriptWriter } from "./transcript.ts";

function completed(threadId: string, item: object): CodexEvent {
  return { type: "item.completed", threadId, turnId: "u", item } as unknown as CodexEvent;
}

test("the main thread and subagents have separate sequences without gaps, even if a sink fails", () => {
  const entries: TranscriptEntry[] = [];
  const errors: unknown[] = [];
  const writer = new TranscriptWriter({
    prompt: "test/p",
    evaluationId: "e",
    sinks: [
      () => {
        throw new Error("down");
      },
      (entry) => entries.push(entry),
    ],
    onError: (error) => errors.push(error),
    now: () => 7,
  });
  writer.start("main", {});
  writer.record(completed("main", { type: "agentMessage", id: "1", text: "a", phase: null }));
  writer.record(completed("child", { type: "agentMessage", id: "2", text: "b", phase: null }));
  writer.record(completed("child", { type: "reasoning", id: "3", summary: ["c"] }));
  writer.record(completed("main", { type: "somethingNew", id: "4" }));
  writer.stop({});

  expect(entries.map(({ source, sequence, type }) => `${source} ${sequence} ${type}`)).toEqual([
    "main 1 system_event",
    "main 2 assistant_message",
    "subagent:child 1 assistant_message",
    "subagent:child 2 thinking",
    "main 3 unknown",
    "main 4 system_event",
  ]);
  expect(errors).toHaveLength(entries.length);
});

test.for<readonly [object, string, boolean]>([
  [{ type: "commandExecution", status: "completed", exitCode: 0, command: "ls" }, "codex:command", true],
  [{ type: "commandExecution", status: "completed", exitCode: 1, command: "ls" }, "codex:command", false],
  [{ type: "commandExecution", status: "failed", exitCode: null, command: "ls" }, "codex:command", false],
  [{ type: "commandExecution", status: "declined", exitCode: null, command: "ls" }, "codex:command", false],
  [{ type: "fileChange", status: "completed", changes: [] }, "codex:file_change", true],
  [{ type: "fileChange", status: "declined", changes: [] }, "codex:file_change", false],
  [{ type: "mcpToolCall", status: "completed", server: "s", tool: "t", result: {} }, "codex:mcp:s.t", true],
  [
    { type: "mcpToolCall", status: "failed", server: "s", tool: "t", error: { message: "m" } },
    "codex:mcp:s.t",
    false,
  ],
  [{ type: "webSearch", query: "q" }, "codex:web_search", true],
])("%j is a call to %s", ([item, tool, success]) => {
  expect(toNativeCall(item as v2.ThreadItem)).toMatchObject({ tool, success });
});

test.for(["agentMessage", "reasoning", "userMessage", "dynamicToolCall"])(
  "%s is none of Codex's tools",
  (type) => {
    expect(toNativeCall({ type } as v2.ThreadItem)).toBeUndefined();
  },
);

test("an async sink that rejects is reported like one that throws", async () => {
  const reported = Promise.withResolvers<unknown>();
  const writer = new TranscriptWriter({
    prompt: "p",
    evaluationId: "e",
    sinks: [async () => Promise.reject(new Error("no disk"))],
    onError: reported.resolve,
  });
  writer.start("t", {});
  expect(await reported.promise).toMatchObject({ message: "no disk" });
});
