// Programs for `@openai/codex-sdk`, run with that package and with this one on the same codex and the same scripted model.
// What the old package made of each is in `recordings/`; both must make the same of it. To record again: `vitest -u`.
import {
  callTool,
  fail,
  item,
  type Json,
  patch,
  run,
  say,
  type Script,
  think,
  usage,
} from "@codexkit/scripted-model";
import { type CodexFolders, codexFolders } from "@codexkit/testing";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { findCodex } from "../process/find-codex.ts";
import * as compat from "./index.ts";
import { closeServers } from "./server-pool.ts";

type Sdk = Pick<typeof compat, "Codex">;

interface Stage extends CodexFolders {
  /** A `Codex` of the package under test. */
  readonly codex: (options?: compat.CodexOptions) => compat.Codex;
}

interface Program {
  readonly script: Script;
  readonly modelName?: string;
  readonly run: (stage: Stage) => Promise<unknown>;
}

const tillServer = fileURLToPath(new URL("../../test/mcp-server.ts", import.meta.url));
const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const answer = {
  type: "object",
  properties: { ok: { type: "boolean" } },
  required: ["ok"],
  additionalProperties: false,
};

const programs: Record<string, Program> = {
  "a message and a thought, twice on one thread": {
    script: [[think("Hmm"), say("hello"), usage({ input: 900, cached: 100, output: 12 })], "again"],
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const before = thread.id;
      const first = await watch(thread, "hi");
      return { before, first, second: await thread.run("more") };
    },
  },
  "commands that end well and badly, and one left running": {
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
  "calls of an MCP server's tools, one of which asks the person": {
    script: ({ input }) =>
      input.some(({ type }) => type === "function_call_output")
        ? "done"
        : [
            callTool("pay", { amount: 3 }, { namespace: "mcp__till" }),
            callTool("ask", {}, { namespace: "mcp__till" }),
          ],
    run: async ({ codex, workspace, model }) => {
      await access(tillServer);
      const config = { mcp_servers: { till: { command: process.execPath, args: [tillServer] } } };
      const thread = codex({ config }).startThread({
        workingDirectory: workspace,
        sandboxMode: "danger-full-access",
      });
      return { turn: sorted(await watch(thread, "hi")), told: model.requests.at(-1)?.input.slice(-2).length };
    },
  },
  "searches of the web": {
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
  "a refusal of the model's endpoint": {
    script: () => fail.http(401),
    run: async ({ codex, workspace }) => {
      const streamed = await watch(codex().startThread({ workingDirectory: workspace }), "hi");
      const ran = await outcome(codex().startThread({ workingDirectory: workspace }).run("hi"));
      return { streamed, ran };
    },
  },
  "a quota that is used up": {
    script: () => fail.response("insufficient_quota"),
    run: ({ codex, workspace }) => watch(codex().startThread({ workingDirectory: workspace }), "hi"),
  },
  "a failure that is tried again": {
    script: [fail.http(500), "at last"],
    run: ({ codex, workspace }) => {
      const config = { model_providers: { scripted: { stream_max_retries: 2 } } };
      return watch(codex({ config }).startThread({ workingDirectory: workspace }), "hi");
    },
  },
  "an abort before and in the middle of a turn": {
    script: [[run("sleep 60")]],
    run: async ({ codex, workspace }) => {
      const options = { workingDirectory: workspace, sandboxMode: "danger-full-access" } as const;
      const before = await outcome(codex().startThread(options).run("hi", { signal: AbortSignal.abort() }));
      const stop = new AbortController();
      const during = await watch(codex().startThread(options), "hi", { signal: stop.signal }, ({ type }) => {
        if (type === "item.started") stop.abort(new Error("enough"));
      });
      return { before, during };
    },
  },
  "a reader that leaves": {
    script: [[run("sleep 60")], "here again"],
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({
        workingDirectory: workspace,
        sandboxMode: "danger-full-access",
      });
      const { events } = await thread.runStreamed("hi");
      const seen: string[] = [];
      for await (const { type } of events) {
        seen.push(type);
        if (type === "item.started") break;
      }
      return { seen, next: (await thread.run("more")).finalResponse };
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
  "a thread that another object goes on with": {
    script: ["one", "two"],
    run: async ({ codex, workspace, model }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      await thread.run("first");
      const again = codex().resumeThread(thread.id ?? "", { workingDirectory: workspace });
      const before = again.id === thread.id;
      const turn = await watch(again, "second");
      return { before, turn, told: userTexts(model.requests[1]?.input) };
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
  "a codex that is not there": {
    script: [],
    run: async ({ codex, workspace }) => {
      const thread = codex({ codexPathOverride: "/nowhere/codex" }).startThread({
        workingDirectory: workspace,
      });
      return { ran: await outcome(thread.run("hi")), streamed: await watch(thread, "hi") };
    },
  },
  "a folder in no repository": {
    script: ["worked"],
    run: async ({ codex, root }) => {
      const outside = join(root, "outside");
      await mkdir(outside);
      const refused = await watch(codex().startThread({ workingDirectory: outside }), "hi");
      const options = { workingDirectory: outside, skipGitRepoCheck: true };
      return { refused, allowed: await watch(codex().startThread(options), "hi") };
    },
  },
  "what can't be run": {
    script: [],
    run: async ({ codex, workspace }) => {
      const thread = codex().startThread({ workingDirectory: workspace });
      const unknown = codex().resumeThread("0199a213-81c0-7800-8aa1-bbab2a035a53", {
        workingDirectory: workspace,
      });
      const noProvider = codex({ config: { model_provider: "nowhere" } });
      return {
        empty: await watch(thread, " \n"),
        noFolder: await watch(codex().startThread({ workingDirectory: join(workspace, "missing") }), "hi"),
        noSchema: await watch(thread, "hi", { outputSchema: [] }),
        noThread: await watch(unknown, "hi"),
        noProvider: await watch(noProvider.startThread({ workingDirectory: workspace }), "hi"),
      };
    },
  },
  "pictures and texts": {
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
      return { turn, told: model.requests[1]?.input.at(-1)?.["output"] };
    },
  },
  "a deprecated setting": {
    script: ["one", "two"],
    run: async ({ codex, workspace }) => {
      const config = { features: { web_search_request: true } };
      const thread = codex({ config }).startThread({ workingDirectory: workspace });
      return [await watch(thread, "hi"), await watch(thread, "more")];
    },
  },
  "an API key": {
    script: ["one"],
    run: async ({ codex, workspace, codexHome, model }) => {
      const config = { model_providers: { scripted: { requires_openai_auth: true } } };
      const turn = await watch(
        codex({ apiKey: "sk-test", config }).startThread({ workingDirectory: workspace }),
        "hi",
      );
      const stored = await readFile(join(codexHome, "auth.json"), "utf8").catch(() => "nothing stored");
      const { authorization, originator } = model.requests[0]?.headers ?? {};
      return { turn, stored, authorization, originator };
    },
  },
  "other options for the same thread": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, model }) => {
      const first = codex().startThread({ workingDirectory: workspace });
      await first.run("hi");
      const setups: compat.ThreadOptions[] = [
        { model: "gpt-5.4", modelReasoningEffort: "low" },
        { sandboxMode: "danger-full-access" },
        // Not the sandbox of the turn before.
        {},
        { sandboxMode: "read-only", modelReasoningEffort: "high", webSearchMode: "live" },
        {},
      ];
      for (const setup of setups) {
        const thread = codex().resumeThread(first.id ?? "", { workingDirectory: workspace, ...setup });
        await thread.run("more");
      }
      return model.requests.map((request) => setting(request));
    },
  },
  "every option of a thread": {
    script: () => "done",
    modelName: "gpt-5.5",
    run: async ({ codex, workspace, root, model }) => {
      const told: unknown[] = [];
      const setups: compat.ThreadOptions[] = [
        {},
        { sandboxMode: "workspace-write", networkAccessEnabled: true },
        { sandboxMode: "workspace-write", additionalDirectories: [root, "below"] },
        { sandboxMode: "danger-full-access", approvalPolicy: "on-request", threadSource: "mine" },
        { webSearchMode: "live", modelReasoningEffort: "low" },
        { webSearchEnabled: false, model: "gpt-5.4" },
      ];
      for (const setup of setups) {
        await codex()
          .startThread({ workingDirectory: workspace, ...setup })
          .run("hi");
        told.push(setting(model.requests.at(-1)));
      }
      return told;
    },
  },
};

describe("programs for @openai/codex-sdk", () => {
  afterAll(closeServers);
  const original = findOriginal();

  for (const [name, program] of Object.entries(programs)) {
    const recording = fileURLToPath(
      new URL(`recordings/${name.replaceAll(/\W+/g, "-")}.snap`, import.meta.url),
    );
    // Skipped where the old package is not installed: only the benchmarks depend on it.
    it.skipIf(original === undefined)(`${name}: the old package does what is recorded`, async () => {
      const sdk = (await import(String(original))) as Sdk;
      await expect(await perform(program, sdk)).toMatchFileSnapshot(recording);
    });

    it(`${name}: the same with codexkit/compat`, async () => {
      expect(JSON.parse(await perform(program, compat))).toEqual(
        JSON.parse(await readFile(recording, "utf8")),
      );
    });
  }
});

/** Where the old package is, for those who have it. */
function findOriginal(): string | undefined {
  try {
    const found = findPackageJSON("@openai/codex-sdk", new URL("../../../../bench/", import.meta.url));
    return found === undefined ? undefined : pathToFileURL(join(dirname(found), "dist/index.js")).href;
  } catch {
    return undefined;
  }
}

/** Runs a program in a world of its own and gives what it saw, as text without what differs from run to run. */
async function perform({ script, modelName, run: play }: Program, sdk: Sdk): Promise<string> {
  await using folders = await codexFolders({
    model: script,
    modelRetries: 0,
    ...(modelName === undefined ? {} : { modelName }),
  });
  await mkdir(join(folders.workspace, ".git"));
  await writeFile(join(folders.workspace, ".git/HEAD"), "ref: refs/heads/main\n");
  const base = { codexPathOverride: findCodex().path, env: folders.env as Record<string, string> };
  const codex = (options: compat.CodexOptions = {}): compat.Codex => new sdk.Codex({ ...base, ...options });
  try {
    return normal(await play({ ...folders, codex }), folders);
  } finally {
    await closeServers();
  }
}

function normal(seen: unknown, { root, model }: CodexFolders): string {
  const uuids: string[] = [];
  return `${JSON.stringify(seen, undefined, 2)}\n`
    .replaceAll(root, "<root>")
    .replaceAll(new URL(model.url).host, "<host>")
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, (uuid) => {
      if (!uuids.includes(uuid)) uuids.push(uuid);
      return `<uuid ${uuids.indexOf(uuid)}>`;
    })
    .replaceAll(/<(?<tag>current_date|timezone|shell)>[^<]*/g, "<$<tag>>…")
    .replaceAll(/\\n\\nStack backtrace:(?:\\n *\d+: <unknown>)*/g, "");
}

/** The events of a turn, and what reading them threw. */
async function watch(
  thread: compat.Thread,
  input: compat.Input,
  options: compat.TurnOptions = {},
  onEvent: (event: compat.ThreadEvent) => void = () => {},
): Promise<{ events: compat.ThreadEvent[]; end: unknown }> {
  const events: compat.ThreadEvent[] = [];
  const reading = async (): Promise<string> => {
    for await (const event of (await thread.runStreamed(input, options)).events) {
      events.push(event);
      onEvent(event);
    }
    return "ended";
  };
  return { end: await outcome(reading()), events };
}

/** What a promise came to: its value, or what programs can see of its error. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    const { code, name, cause } = error as Error & { code?: string };
    // A cause is new with us, except for an abort.
    const why = name === "AbortError" ? String(cause) : undefined;
    return { thrown: String(error), isError: error instanceof Error, name, code, cause: why };
  }
}

/** Two calls side by side end in any order. */
function sorted<Turn extends { events: compat.ThreadEvent[] }>(turn: Turn): Turn {
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

interface Request {
  readonly input: readonly { readonly [key: string]: unknown }[];
  readonly body: { readonly [key: string]: unknown };
  readonly headers: { readonly [name: string]: unknown };
}

/** What the model is told of how a thread is set up. */
function setting(request: Request | undefined): unknown {
  const { model, reasoning, tools } = request?.body ?? {};
  const metadata = JSON.parse(String(request?.headers["x-codex-turn-metadata"])) as Record<string, unknown>;
  const { sandbox, sandbox_mode, thread_source, turn_trigger } = metadata;
  const context = request?.input.find((part) => JSON.stringify(part).includes("<environment_context>"));
  const offered = (tools as { type: string; name?: string }[]).map((tool) => tool.name ?? tool);
  return { model, reasoning, offered, sandbox, sandbox_mode, thread_source, turn_trigger, context };
}

function userTexts(input: Request["input"] | undefined): unknown[] {
  return (input ?? []).filter(({ role }) => role === "user").map(({ content }) => content);
}
