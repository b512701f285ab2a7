import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { ServerMessage, TurnSeen } from "../test/codex-client.ts";
import { CodexClient } from "../test/codex-client.ts";
import type { Reply, Script } from "./index.ts";
import {
  askUser,
  callTool,
  cut,
  demoScript,
  fail,
  gate,
  patch,
  run,
  say,
  ScriptedModel,
  think,
  usage,
  waitFor,
  writeStdin,
} from "./index.ts";

function answer({ method, params }: ServerMessage): unknown {
  if (method === "item/tool/call")
    return {
      contentItems: [{ type: "inputText", text: `the tool got ${JSON.stringify(params["arguments"])}` }],
      success: true,
    };
  if (method === "item/tool/requestUserInput") return { answers: { colour: { answers: ["blue"] } } };
  return { decision: "accept" };
}

const schema = { type: "object", properties: {} };
const dynamicTools = [
  { type: "function", name: "my-tool", description: "A tool", inputSchema: schema },
  {
    type: "namespace",
    name: "lab",
    description: "A namespace",
    tools: [{ type: "function", name: "mix", description: "A tool", inputSchema: schema }],
  },
];

describe.each([
  { name: "mock-model", kind: "classic", patches: false },
  { name: "gpt-5.5", kind: "classic", patches: true },
  { name: "gpt-6.1-sol", kind: "code", patches: true },
])("the real codex on $name", ({ name, kind, patches }) => {
  let model: ScriptedModel;
  let codex: CodexClient;

  beforeAll(async () => {
    model = await ScriptedModel.start([]);
    // One of the models is configured on the command line, so that both forms are tested.
    codex = await CodexClient.start(model, {
      model: name,
      retries: 0,
      answer,
      byArguments: name === "gpt-5.5",
    });
  });

  afterAll(async () => {
    await codex?.[Symbol.asyncDispose]();
    await model?.close();
  });

  async function play(script: Script, thread = {}, turn = {}): Promise<TurnSeen> {
    model.play(script);
    return codex.turn(await codex.startThread(thread), "hi there", turn);
  }

  it("streams a message and its usage", async () => {
    const seen = await play([
      [say(["Hel", "lo"], { phase: "final_answer" }), usage({ input: 70, cached: 30, output: 7 })],
    ]);
    expect(seen.status).toBe("completed");
    expect(seen.items("agentMessage")).toMatchObject([{ text: "Hello", phase: "final_answer" }]);
    const deltas = seen.messages.filter(({ method }) => method === "item/agentMessage/delta");
    expect(deltas.map(({ params }) => params["delta"])).toEqual(["Hel", "lo"]);
    const counted = seen.messages.find(({ method }) => method === "thread/tokenUsage/updated");
    expect(counted?.params).toMatchObject({
      tokenUsage: { last: { inputTokens: 70, cachedInputTokens: 30, outputTokens: 7, totalTokens: 77 } },
    });
    const request = model.requests.at(-1);
    expect(request).toMatchObject({ model: name, kind, lastUserText: "hi there" });
    expect(request?.toolNames).toContain("exec_command");
    expect(request?.toolNames.includes("apply_patch")).toBe(patches);
    expect(request?.threadId).toBeTypeOf("string");
  });

  it("emits reasoning", async () => {
    const seen = await play([[think("**A plan**", { chunkSize: 4, raw: "raw" }), say("done")]]);
    expect(seen.items("reasoning")).toMatchObject([{ summary: ["**A plan**"], content: ["raw"] }]);
    const deltas = seen.messages.filter(({ method }) => method === "item/reasoning/summaryTextDelta");
    expect(deltas.map(({ params }) => params["delta"]).join("")).toBe("**A plan**");
  });

  it("runs a command, and the script reads its output", async () => {
    const seen = await play((request) =>
      request.newOutputs.length === 0
        ? run("echo one; exit 3", { callId: "c" })
        : sayJson(request.commandResult("c")),
    );
    expect(seen.items("commandExecution")).toMatchObject([{ aggregatedOutput: "one\n", exitCode: 3 }]);
    expect(JSON.parse(finalText(seen))).toEqual({ output: "one\n", exitCode: 3 });
  });

  it("runs parallel commands and keeps their outputs separate", async () => {
    const seen = await play((request) =>
      request.newOutputs.length === 0
        ? [
            run("echo one", { callId: "one" }),
            run("true", { callId: "none" }),
            run("echo two", { callId: "two" }),
          ]
        : sayJson(["one", "none", "two"].map((id) => request.commandResult(id)?.output)),
    );
    expect(seen.items("commandExecution")).toHaveLength(3);
    expect(JSON.parse(finalText(seen))).toEqual(["one\n", "", "two\n"]);
  });

  it("asks before it leaves the sandbox", async () => {
    const seen = await play([run("echo up", { escalate: "because" }), "done"], {
      approvalPolicy: "on-request",
    });
    const asked = seen.messages.filter(({ method }) => method === "item/commandExecution/requestApproval");
    expect(asked.map(({ params }) => params["reason"])).toEqual(["because"]);
    expect(seen.items("commandExecution")).toMatchObject([{ exitCode: 0 }]);
  });

  it("writes to the stdin of a running command", async () => {
    const seen = await play((request) => {
      const begun = request.commandResult("begin");
      if (!begun) return run("read line; echo got $line", { callId: "begin", tty: true, yieldMs: 250 });
      const typed = request.commandResult("type");
      if (!typed) return writeStdin(begun.sessionId ?? -1, "words\n", { callId: "type", yieldMs: 5_000 });
      return sayJson(typed);
    });
    expect(finalText(seen)).toContain("got words");
  });

  it("patches files", async () => {
    const seen = await play([
      patch(`*** Begin Patch\n*** Add File: ${name}.txt\n+EOF\n+it's "new"\n*** End Patch\n`),
      "done",
    ]);
    expect(seen.items("fileChange")).toMatchObject([
      { status: "completed", changes: [{ kind: { type: "add" } }] },
    ]);
    expect(await readFile(join(codex.cwd, `${name}.txt`), "utf8")).toBe('EOF\nit\'s "new"\n');
  });

  it("calls dynamic tools, with and without a namespace", async () => {
    const seen = await play(
      (request) =>
        request.newOutputs.length === 0
          ? [
              callTool("my-tool", { a: 1 }, { callId: "a" }),
              callTool("mix", {}, { namespace: "lab", callId: "b" }),
            ]
          : sayJson([request.output("a")?.text, request.output("b")?.text]),
      { dynamicTools },
    );
    const called = seen.items("dynamicToolCall").map(({ tool }) => tool);
    expect(new Set(called)).toEqual(new Set(["mix", "my-tool"]));
    expect(JSON.parse(finalText(seen))).toEqual(['the tool got {"a":1}', "the tool got {}"]);
  });

  it("reports a failed call to the script", async () => {
    const seen = await play((request) =>
      request.newOutputs.length === 0
        ? [callTool("no_such_tool", {}, { callId: "a" })]
        : sayJson(request.output("a")?.text),
    );
    expect(seen.status).toBe("completed");
    expect(finalText(seen)).toMatch(/unsupported call|not a function/);
  });

  it("asks the user in plan mode", async () => {
    const options = ["blue", "red"].map((label) => ({ label, description: label }));
    const seen = await play(
      (request) =>
        request.newOutputs.length === 0
          ? askUser([{ id: "colour", header: "Colour", question: "Which?", options }], { callId: "ask" })
          : sayJson(request.output("ask")?.text),
      {},
      {
        collaborationMode: {
          mode: "plan",
          settings: { model: name, reasoning_effort: null, developer_instructions: null },
        },
      },
    );
    expect(finalText(seen)).toContain("blue");
  });

  it("holds a turn until the test opens a gate", async () => {
    const stop = gate();
    const before = model.requestCount;
    const held = play([say(["a", waitFor(stop), "b"])]);
    await model.waitForRequests(before + 1);
    stop.open();
    expect(finalText(await held)).toBe("ab");
  });

  const failures: { what: string; reply: Reply; info: unknown }[] = [
    { what: "HTTP 401", reply: fail.http(401), info: { httpConnectionFailed: { httpStatusCode: 401 } } },
    {
      what: "HTTP 429",
      reply: fail.http(429, { retryAfter: 1 }),
      info: { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
    },
    {
      what: "HTTP 429 for quota",
      reply: fail.http(429, { code: "insufficient_quota" }),
      info: "usageLimitExceeded",
    },
    { what: "HTTP 500", reply: fail.http(500), info: "internalServerError" },
    {
      what: "a full context window",
      reply: fail.response("context_length_exceeded"),
      info: "contextWindowExceeded",
    },
    { what: "a used-up quota", reply: fail.response("insufficient_quota"), info: "usageLimitExceeded" },
    { what: "a rate limit", reply: fail.response("rate_limit_exceeded"), info: "rateLimitExceeded" },
    { what: "an overloaded server", reply: fail.response("server_is_overloaded"), info: "serverOverloaded" },
    { what: "an incomplete response", reply: fail.incomplete(), info: "other" },
    { what: "a stream cut in the middle", reply: say(["half", cut()]), info: "other" },
  ];
  it.each(failures)("fails a turn on $what", async ({ reply, info }) => {
    const seen = await play([reply]);
    expect(seen.status).toBe("failed");
    expect(seen.error?.codexErrorInfo).toEqual(info);
    expect(model.problems).toEqual([]);
  });

  it("plays the demo, turn after turn", async () => {
    model.play(demoScript);
    const thread = await codex.startThread();
    for (const text of ["What can you do?", "Again, please"]) {
      const seen = await codex.turn(thread, text);
      expect(seen.status).toBe("completed");
      expect(seen.items("reasoning")).toHaveLength(1);
      expect(seen.items("commandExecution")).toMatchObject([{ exitCode: 0 }]);
      expect(finalText(seen)).toContain("Hello from a real shell in work");
    }
  });
});

describe("codex with a failing script", () => {
  it("retries after a cut", async () => {
    await using model = await ScriptedModel.start([say(["half", cut()]), "whole"]);
    await using codex = await CodexClient.start(model, { model: "mock-model", retries: 1 });
    const seen = await codex.turn(await codex.startThread(), "hi");
    expect(seen.status).toBe("completed");
    expect(finalText(seen)).toBe("whole");
    expect(await Promise.all(model.requests.map(async ({ ended }) => ended))).toEqual(["cut", "completed"]);
  });

  it("reports that the script is exhausted", async () => {
    await using model = await ScriptedModel.start([]);
    await using codex = await CodexClient.start(model, { model: "mock-model" });
    const seen = await codex.turn(await codex.startThread(), "hi");
    expect(seen.error?.message).toContain("The script is exhausted");
    expect(model.requestCount).toBe(1);
  });
});

function sayJson(value: unknown): Reply {
  return say(JSON.stringify(value ?? null), { phase: "final_answer" });
}

function finalText(seen: TurnSeen): string {
  return String(seen.items("agentMessage").at(-1)?.["text"]);
}
