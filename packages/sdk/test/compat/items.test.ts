// The items of a turn: messages, commands, patches, tools, plans.
import { callTool, item, type Json, patch, run, say, think, usage } from "@codexkit/scripted-model";
import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ThreadEvent } from "../../src/compat/index.ts";
import { differential } from "./differential.ts";
import { watch } from "./program.ts";

const tillServer = fileURLToPath(new URL("../mcp-server.ts", import.meta.url));
const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const answer = {
  type: "object",
  properties: { ok: { type: "boolean" } },
  required: ["ok"],
  additionalProperties: false,
};

differential("items of a turn", {
  "a message and reasoning, twice on one thread": {
    script: [[think("Hmm"), say("hello"), usage({ input: 900, cached: 100, output: 12 })], "again"],
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const before = thread.id;
      const first = await watch(thread, "hi");
      return { before, first, second: await thread.run("more") };
    },
  },
  "commands that succeed and fail, and one left running": {
    script: [[run("echo hi")], [run("echo no >&2; exit 3")], [run("sleep 60", { yieldMs: 250 })], "done"],
    run: ({ codex, workspace }) =>
      watch(codex().startThread({ workingDirectory: workspace, sandboxMode: "danger-full-access" }), "hi"),
  },
  "file changes": {
    script: [
      [patch("*** Begin Patch\n*** Add File: a.txt\n+one\n*** Add File: b.txt\n+two\n*** End Patch")],
      [patch("*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Delete File: b.txt\n*** End Patch")],
      "done",
    ],
    run: async ({ codex, workspace }) => ({
      turn: await watch(
        codex().startThread({ workingDirectory: workspace, sandboxMode: "danger-full-access" }),
        "hi",
      ),
      file: await readFile(join(workspace, "a.txt"), "utf8"),
    }),
  },
  "calls to an MCP server's tools, one of which asks the user": {
    script: ({ input }) =>
      input.some(({ type }) => type === "function_call_output")
        ? "done"
        : [
            callTool("pay", { amount: 3 }, { namespace: "mcp__till" }),
            callTool("ask", {}, { namespace: "mcp__till" }),
          ],
    run: async ({ codex, workspace, model }) => {
      await access(tillServer);
      // Codex waits for a required server even on a busy machine.
      const wait = { required: true, startup_timeout_sec: 60 };
      const config = { mcp_servers: { till: { command: process.execPath, args: [tillServer], ...wait } } };
      const thread = codex({ config }).startThread({
        workingDirectory: workspace,
        sandboxMode: "danger-full-access",
      });
      return {
        turn: sorted(await watch(thread, "hi")),
        modelInput: model.requests.at(-1)?.input.slice(-2).length,
      };
    },
  },
  "web searches": {
    script: [
      [
        webSearch("ws_1", { type: "search", query: "weather" }),
        webSearch("ws_2", { type: "open_page", url: "https://example.com" }),
        webSearch("ws_3", { type: "find_in_page", url: "https://example.com", pattern: "rain" }),
        say("done"),
      ],
    ],
    run: ({ codex, workspace }) => watch(codex().startThread({ workingDirectory: workspace }), "hi"),
  },
  "a plan that changes": {
    script: [[plan("in_progress", "pending")], [plan("completed", "in_progress")], "done"],
    run: ({ codex, workspace }) => {
      const config = { tools: { update_plan: { enabled: true } } };
      return watch(codex({ config }).startThread({ workingDirectory: workspace }), "hi");
    },
  },
  "structured output": {
    script: [[say('{"ok":true}')]],
    run: async ({ codex, workspace, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const turn = await thread.run("hi", { outputSchema: answer });
      return { turn, asked: model.requests[0]?.body["text"] };
    },
  },
  "images and texts": {
    script: ["seen"],
    run: async ({ codex, workspace, root, model }) => {
      const path = join(root, "pixel.png");
      await writeFile(path, Buffer.from(pixel, "base64"));
      await codex()
        .startThread({ workingDirectory: workspace })
        .run([
          { type: "text", text: "one" },
          { type: "local_image", path },
          { type: "text", text: "two" },
        ]);
      return model.requests[0]?.input.at(-1)?.["content"];
    },
  },
  "a command that would need an approval": {
    script: [[run("echo hi", { escalate: "for a reason", callId: "asks" })], "done"],
    run: async ({ codex, workspace, model }) => {
      const options = { workingDirectory: workspace, approvalPolicy: "on-request" } as const;
      const turn = await watch(codex().startThread(options), "hi");
      return { turn, modelInput: model.requests[1]?.input.at(-1)?.["output"] };
    },
  },
  "two turns at once on two threads": {
    script: ({ lastUserText }) => `You said ${lastUserText}`,
    run: async ({ codex, workspace }) => {
      const shared = codex();
      const threads = ["a", "b"].map(() => shared.startThread({ workingDirectory: workspace }));
      const turns = await Promise.all(threads.map((thread, index) => thread.run(`turn ${index}`)));
      return { turns, different: threads[0]?.id !== threads[1]?.id };
    },
  },
});

/** Two parallel calls end in any order. */
function sorted<Turn extends { events: ThreadEvent[] }>(turn: Turn): Turn {
  const text = (event: object): string => JSON.stringify(event).replaceAll(/item_\d/g, "");
  return { ...turn, events: turn.events.toSorted((left, right) => text(left).localeCompare(text(right))) };
}

function webSearch(id: string, action: Json): ReturnType<typeof item> {
  return item({ type: "web_search_call", id, status: "completed", action });
}

function plan(first: string, second: string): ReturnType<typeof callTool> {
  const steps = [
    { step: "look", status: first },
    { step: "leap", status: second },
  ];
  return callTool("update_plan", { plan: steps });
}
