import {
  callTool,
  fail,
  gate,
  item,
  patch,
  run,
  say,
  type Script,
  think,
  waitFor,
} from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { defineTool, type v2 } from "codexkit";
import fc from "fast-check";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ThreadEvent } from "../api/thread.ts";
import { mapLine } from "./map-line.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const lookup = defineTool({
  name: "lookup",
  description: "Finds a value",
  input: z.object({ key: z.string() }),
  execute: () => "found",
});

const wrap = (lines: string): string => `*** Begin Patch\n${lines}\n*** End Patch`;

/** One turn per type of item. */
const REPLIES: Record<string, ReturnType<Extract<Script, (...args: never) => unknown>>> = {
  add: patch(wrap("*** Add File: a.txt\n+one\n+two\n*** Add File: b.txt\n+three")),
  command: [think("a plan"), run('ls . && cat a.txt && echo "it\'s"')],
  failing: run("exit 3"),
  update: patch(
    wrap(
      "*** Update File: a.txt\n@@\n-one\n+uno\n two\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-three\n+tres",
    ),
  ),
  delete: patch(wrap("*** Delete File: c.txt")),
  tool: callTool("lookup", { key: "k" }),
  image: callTool("view_image", { path: "pixel.png" }),
  web: [
    item({
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { type: "search", query: "q" },
    }),
    say("found"),
  ],
  fails: fail.http(400),
};

async function readEvents(path: string, threadId: string): Promise<ThreadEvent[]> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  return lines
    .map((line, offset) => mapLine(JSON.parse(line), { threadId, offset }))
    .filter((event) => event !== undefined);
}

test("maps every line of a rollout to the item and the turn that Codex itself reads from it", async () => {
  const never = gate();
  await using launched = await launchCodex({
    modelRetries: 0,
    model: ({ lastUserText, newOutputs }) => {
      if (lastUserText === "interrupted") return say(["half", waitFor(never)]);
      return (newOutputs.length === 0 && REPLIES[lastUserText]) || say(`did ${lastUserText}`);
    },
  });
  const { codex, workspace } = launched;
  await writeFile(join(workspace, "pixel.png"), Buffer.from(PIXEL, "base64"));
  const thread = await codex.startThread({ cwd: workspace, sandbox: "workspace-write", tools: [lookup] });
  for (const message of Object.keys(REPLIES)) await Promise.allSettled([thread.run(message)]);
  const turn = thread.run("interrupted");
  for await (const event of turn) if (event.type === "item.delta") await thread.interrupt();
  never.open();
  await thread.run("last");

  const turns: v2.Turn[] = [];
  for await (const entry of thread.history.turns({ itemsView: "full", sortDirection: "asc" }))
    turns.push(entry);
  const { path } = await thread.read();
  const events = await readEvents(path ?? "", thread.id);
  const items = events.flatMap((event) => (event.type === "item.completed" ? [event.item] : []));
  expect(items).toEqual(turns.flatMap((entry) => entry.items));
  expect(new Set(items.map(({ type }) => type)).size).toBe(8);
  const ends = events.flatMap((event) => ("result" in event ? [[event.turnId, event.result.status]] : []));
  expect(ends).toEqual(turns.map(({ id, status }) => [id, status]));
  const started = events.flatMap((event) => (event.type === "turn.started" ? [event.turnId] : []));
  expect(started).toEqual(turns.map(({ id }) => id));
});

test("maps the lines of a thread without pages, as older versions write them", async () => {
  await using launched = await launchCodex({
    model: ({ lastUserText, newOutputs }) =>
      (newOutputs.length === 0 && REPLIES[lastUserText]) || say(`did ${lastUserText}`),
  });
  const { codex, workspace } = launched;
  const started = await codex.request("thread/start", {
    cwd: workspace,
    sandbox: "workspace-write",
    historyMode: "legacy",
  } as never);
  const { id, path } = started.thread;
  const input = [{ type: "text", text: "add", text_elements: [] }];
  const ended = (async () => {
    for await (const event of codex.events()) if (event.type === "turn.completed") return;
  })();
  await codex.request("turn/start", { threadId: id, input } as never);
  await ended;
  const events = await readEvents(path ?? "", id);
  expect(events.map((event) => (event.type === "item.completed" ? event.item.type : event.type))).toEqual([
    "turn.started",
    "userMessage",
    "fileChange",
    "agentMessage",
    "turn.completed",
  ]);
});

test("maps lines with values of any type, as a damaged or hostile file may have them", () => {
  const strange = fc.constantFrom(null, 1, "text", [], [null], {}, { toString: 1, valueOf: 1 }, { secs: {} });
  const value = fc.oneof(
    strange,
    fc.array(strange),
    fc.dictionary(fc.constantFrom("a", "type", "Err"), strange),
  );
  const members =
    "content text command parsed_cmd duration cwd path source status changes action summary_text raw_content message images phase invocation result error".split(
      " ",
    );
  const fields = fc.dictionary(fc.constantFrom(...members), value);
  const items = ["UserMessage", "AgentMessage", "Reasoning", "CommandExecution", "FileChange", "McpToolCall"];
  const anyItem = fc.tuple(fc.constantFrom(...items, "WebSearch", "__proto__"), fields);
  const events = ["user_message", "agent_message", "agent_reasoning", "patch_apply_end", "exec_command_end"];
  const payload = fc.oneof(
    anyItem.map(([type, rest]) => ({ type: "item_completed", item: { id: "item", ...rest, type } })),
    fc
      .tuple(fc.constantFrom(...events, "mcp_tool_call_end", "task_complete", "turn_aborted"), fields)
      .map(([type, rest]) => ({ ...rest, type })),
  );
  fc.assert(
    fc.property(payload, (given) => {
      const line: unknown = JSON.parse(JSON.stringify({ type: "event_msg", payload: given }));
      expect(mapLine(line, { threadId: "thread", offset: 0 })).toBeDefined();
    }),
    { numRuns: 2000 },
  );
});
