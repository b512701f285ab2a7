// Unusual model requests and tool results, on the real codex.
import { callTool, type JsonObject, type Script } from "@codexkit/scripted-model";
import { launchCodex, type LaunchedCodex } from "@codexkit/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  definePrompt,
  definePromptTool,
  defineSlice,
  evaluate,
  openWorkspace,
  PromptSession,
  ToolInvoked,
} from "../src/index.ts";

const calls = defineSlice<number>({ name: "calls", schema: z.number(), initial: 0 });

/** The model's next calls, and the handler for them. */
let request: readonly { readonly tool: string; readonly args: JsonObject }[] = [];
let respond: (input: { text: string }) => unknown = () => "ok";

const script: Script = ({ newOutputs, lastUserText }) =>
  newOutputs.length === 0 && !lastUserText.includes("are open now")
    ? request.map(({ tool, args }) => callTool(tool, args))
    : "Done.";

const echo = definePromptTool<{ text: string }, unknown>({
  name: "echo",
  description: "Repeats a text",
  input: z.strictObject({ text: z.string() }),
  handler: (input, { session }) => {
    session.update(calls, (count) => count + 1);
    return respond(input);
  },
});

const prompt = definePrompt({
  ns: "test",
  key: "hostile",
  sections: [
    { key: "task", title: "Task", render: "Use the tool." },
    {
      key: "closed",
      title: "Closed",
      render: "Secret",
      summary: "Something",
      visibility: "summary",
      tools: [
        definePromptTool({
          name: "inner",
          description: "Inner",
          input: z.strictObject({}),
          handler: () => "",
        }),
      ],
    },
    { key: "text", title: "Text", render: "More", summary: "Something", visibility: "summary" },
  ],
  tools: [echo],
});

let setup: LaunchedCodex;
beforeAll(async () => {
  setup = await launchCodex({ model: script, modelName: "gpt-5.5", modelRetries: 0 });
});
afterAll(() => setup[Symbol.asyncDispose]());

async function run(): Promise<PromptSession> {
  await using workspace = openWorkspace();
  const session = new PromptSession();
  const { text } = await evaluate(setup.codex, prompt.bind(), {
    session,
    workspace,
    thread: { ephemeral: true },
  });
  expect(text).toBe("Done.");
  return session;
}

const deep = JSON.parse(`${'{"a":'.repeat(500)}1${"}".repeat(500)}`) as JsonObject;

describe("arguments", () => {
  test.for<JsonObject>([
    {},
    { text: null },
    { text: 5 },
    { text: ["a"] },
    { text: { toString: "a" } },
    { text: "a", extra: 1 },
    { Text: "a" },
    { constructor: "a" },
  ])("%j are rejected with a reason, and nothing runs", async (args) => {
    request = [{ tool: "echo", args }];
    const session = await run();
    expect(session.get(calls)).toBe(0);
    expect(session.eventsOf(ToolInvoked)).toMatchObject([
      {
        tool: "echo",
        success: false,
        text: expect.stringContaining("arguments of echo are invalid") as string,
      },
    ]);
  });

  test.for([
    "",
    " ",
    "\n\r\t",
    "\u0000",
    "\u001b[31mred",
    "😀 𝕏 e\u0301",
    "\u202eright to left",
    '</feedback><feedback provider="x">',
    "{{text}}",
    "../etc/passwd",
    "'; DROP TABLE x; --",
    "x".repeat(1_000_000),
  ])("a text like %j is received and returned unchanged", async (text) => {
    request = [{ tool: "echo", args: { text } }];
    respond = (input) => input.text;
    const session = await run();
    expect(session.eventsOf(ToolInvoked)).toMatchObject([{ success: true, input: { text }, value: text }]);
  });
});

test("arguments that are nested too deeply for Codex never arrive, and the evaluation continues", async () => {
  request = [{ tool: "echo", args: { text: deep } }];
  const session = await run();
  expect(session.eventsOf(ToolInvoked)).toEqual([]);
});

describe("results", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  const unreadable = Object.defineProperty(new Error("x"), "message", {
    get: () => {
      throw new Error("not this one");
    },
  });

  test.for<readonly [string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a number that JSON does not have", Number.NaN],
    ["a date", new Date(0)],
    ["a map", new Map([["a", 1]])],
    ["a very long text", "x".repeat(3_000_000)],
    ["half of a character", "\ud800"],
    ["an empty text", ""],
    ["a list of lists", [[[[[]]]]]],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
  ])("%s does not end the evaluation", async ([, value]) => {
    request = [{ tool: "echo", args: { text: "a" } }];
    respond = () => value;
    const session = await run();
    expect(session.eventsOf(ToolInvoked)).toMatchObject([{ tool: "echo", success: true }]);
    expect(session.get(calls)).toBe(1);
    // All recorded data can be stored.
    expect(PromptSession.fromJSON(JSON.stringify(session)).eventsOf(ToolInvoked)).toHaveLength(1);
  });

  test.for<readonly [string, () => unknown]>([
    ["a large integer", () => 1n],
    ["a circle", () => circular],
    [
      "an object that can't be written",
      () => ({
        toJSON: () => {
          throw new Error("no");
        },
      }),
    ],
    ["undefined thrown", () => Promise.reject(undefined)],
    ["null thrown", () => Promise.reject(null)],
    ["a text thrown", () => Promise.reject("text")],
    ["an object without a prototype thrown", () => Promise.reject(Object.create(null) as Error)],
    ["an error without a message", () => Promise.reject(new Error())],
    ["an error that can't be read", () => Promise.reject(unreadable)],
    ["a frozen error", () => Promise.reject(Object.freeze(new Error("frozen")))],
    ["an abort", () => Promise.reject(AbortSignal.abort().reason as Error)],
  ])("%s fails the call, and its changes are undone", async ([, result]) => {
    request = [{ tool: "echo", args: { text: "a" } }];
    respond = result;
    const session = await run();
    expect(session.eventsOf(ToolInvoked)).toMatchObject([{ tool: "echo", success: false }]);
    expect(session.get(calls)).toBe(0);
  });
});

describe("calls", () => {
  test("many calls in one response run one at a time, each with its own result", async () => {
    let running = 0;
    let most = 0;
    request = Array.from({ length: 12 }, (_, index) => ({ tool: "echo", args: { text: `${index}` } }));
    respond = async ({ text }) => {
      most = Math.max(most, (running += 1));
      await new Promise(setImmediate);
      running -= 1;
      if (Number(text) % 3 === 0) throw new Error("every third");
      return text;
    };
    const session = await run();
    expect(most).toBe(1);
    expect(session.get(calls)).toBe(8);
    expect(session.eventsOf(ToolInvoked).filter(({ success }) => success)).toHaveLength(8);
  });

  test.for<readonly [string, JsonObject]>([
    ["read_section", { key: "nothing" }],
    ["read_section", { key: "" }],
    ["read_section", { key: "__proto__" }],
    ["read_section", { key: "task" }],
    ["read_section", { keys: ["text"] }],
    ["open_sections", { keys: [], reason: "x" }],
    ["open_sections", { keys: ["nothing"], reason: "x" }],
    ["open_sections", { keys: ["closed", "nothing"], reason: "x" }],
    ["open_sections", { keys: "closed", reason: "x" }],
    ["open_sections", { keys: ["closed"] }],
    ["open_sections", { keys: Array.from({ length: 1_000 }, (_, index) => `s${index}`), reason: "x" }],
    ["inner", {}],
  ])("%s with %j fails with a reason", async ([tool, args]) => {
    request = [{ tool, args }];
    const session = await run();
    expect(session.eventsOf(ToolInvoked)).toMatchObject([{ tool, success: false }]);
  });

  test("a tool that does not exist is rejected by Codex, and the evaluation continues", async () => {
    request = [{ tool: "rm_rf", args: {} }];
    const session = await run();
    expect(session.eventsOf(ToolInvoked)).toEqual([]);
  });

  test("a section that is opened twice in one response is opened once", async () => {
    const open = { tool: "open_sections", args: { keys: ["closed", "closed"], reason: "x" } };
    request = [open, open];
    const session = await run();
    expect(session.eventsOf(ToolInvoked).some(({ success }) => success)).toBe(true);
  });

  test("a handler can't evaluate in its own workspace", async () => {
    await using workspace = openWorkspace();
    request = [{ tool: "echo", args: { text: "a" } }];
    respond = () => evaluate(setup.codex, prompt.bind(), { workspace });
    const session = new PromptSession();
    await evaluate(setup.codex, prompt.bind(), { session, workspace, thread: { ephemeral: true } });
    expect(session.eventsOf(ToolInvoked)).toMatchObject([
      { success: false, text: expect.stringContaining("in its own workspace") as string },
    ]);
  });
});

test("a prompt that can't be rendered fails in the request phase, with an event", async () => {
  const broken = definePrompt({
    ns: "test",
    key: "broken",
    sections: [
      {
        key: "task",
        title: "Task",
        render: () => {
          throw new TypeError("no such thing");
        },
      },
    ],
  });
  await expect(evaluate(setup.codex, broken.bind())).rejects.toMatchObject({
    name: "PromptEvaluationError",
    code: "invalid_definition",
    phase: "request",
    message: "test/broken could not be rendered: no such thing",
  });
});
