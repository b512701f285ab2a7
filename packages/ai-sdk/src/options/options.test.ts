// Options of calls, models and providers, on the real codex.
import { callTool, run, say, type ScriptRequest } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { type LaunchedAppServer, launchAppServer } from "codexkit/process";
import { generateText, isStepCount, type ModelMessage, streamText, tool } from "ai";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { codexStage, ofType, partsOf, responseText, threadIdOf } from "../../test/codex-stage.ts";
import { type CodexLanguageModelOptions, type CodexModelId, createCodex } from "../index.ts";

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]["providerOptions"]>;

/** What Codex tells the model of its sandbox. */
function permissions(request: ScriptRequest | undefined): string {
  const text = JSON.stringify(request?.input ?? []);
  return text.slice(text.lastIndexOf("<permissions instructions>")).slice(0, 600);
}

describe("options", () => {
  it("are assignable to providerOptions, and model ids autocomplete", () => {
    expectTypeOf<{ codex: CodexLanguageModelOptions }>().toExtend<ProviderOptions>();
    // A plain string has no literals to complete.
    expectTypeOf<Extract<CodexModelId, "gpt-6.1-sol">>().toEqualTypeOf<"gpt-6.1-sol">();
    expectTypeOf<"my-own-model">().toExtend<CodexModelId>();
  });

  it.each([
    ["sandboxMode", "sandbox"],
    ["approvalMode", "approvalPolicy"],
    ["sandbx", "sandbox"],
    ["reasoningeffort", "reasoningEffort"],
    ["threadID", "threadId"],
  ])("are rejected with the right key for %s", async (wrong, right) => {
    await using codex = createCodex({ launch: { codexPath: "/nowhere/codex" } });
    const call = generateText({
      model: codex(),
      prompt: "go",
      providerOptions: { codex: { [wrong]: "read-only" } },
    });
    await expect(call).rejects.toMatchObject({
      code: "invalid_options",
      message: expect.stringContaining(`Did you mean "${right}"`),
    });
  });

  it.each([
    [{ handlers: {} }, "codex(modelId, { handlers })"],
    [{ policy: {} }, "createCodex({ policy })"],
    [{ toolTimeoutMs: 5 }, "createCodex({ toolTimeoutMs })"],
    [{ logger: {} }, "createCodex({ logger })"],
    [{ mcpServers: { a: { comand: "x" } } }, 'Did you mean "command"'],
    [{ sandboxPolicy: { type: "workspaceWrite", writeableRoots: [] } }, 'Did you mean "writableRoots"'],
  ])(
    "in the wrong scope, or with a wrong nested key, are rejected with the right one: %j",
    async (options, words) => {
      await using codex = createCodex({ launch: { codexPath: "/nowhere/codex" } });
      const call = generateText({ model: codex(), prompt: "go", providerOptions: { codex: options } });
      await expect(call).rejects.toMatchObject({
        code: "invalid_options",
        message: expect.stringContaining(words),
      });
    },
  );

  it("of the provider are rejected with the right key too", () => {
    expect(() => createCodex({ codexPath: "/usr/bin/codex" } as object)).toThrow(
      'Did you mean "launch.codexPath"',
    );
    expect(() => createCodex({ readyThreads: -1 })).toThrow("readyThreads");
  });

  it("accept reasoningEffort and reasoningSummary", async () => {
    await using stage = await codexStage(() => say("ok"), { reasoningEffort: "low" });
    const call = (codex: CodexLanguageModelOptions) =>
      generateText({ model: stage.codex(), prompt: "go", providerOptions: { codex } });
    await call({});
    await call({ reasoningEffort: "high", reasoningSummary: "detailed" });
    const reasoning = stage.model.requests.map(({ body }) => body["reasoning"]);
    expect(reasoning).toMatchObject([{ effort: "low" }, { effort: "high", summary: "detailed" }]);
  });

  it("set the verbosity of answers", async () => {
    await using stage = await codexStage(() => say("ok"), { modelName: "gpt-6.1-sol" });
    await generateText({
      model: stage.codex(),
      prompt: "go",
      providerOptions: { codex: { textVerbosity: "high" } },
    });
    expect(stage.model.requests[0]?.body["text"]).toMatchObject({ verbosity: "high" });
  });

  it("of a call are merged with the provider's: mcpServers, config and instructions", async () => {
    const seen: unknown[] = [];
    await using stage = await codexStage(() => say("ok"), {
      launchOptions: {
        onPacket: ({ direction, text }) => {
          if (direction === "sent" && text.includes("thread/start")) seen.push(JSON.parse(text));
        },
      },
      mcpServers: { one: { command: "true", enabled: false } },
      config: { tools: { web_search: false }, model_verbosity: "low" },
      instructions: "Be kind.",
    });
    await generateText({
      model: stage.codex(),
      prompt: "go",
      providerOptions: {
        codex: {
          mcpServers: { two: { command: "true", enabled: false } },
          config: { tools: { view_image: false } },
          instructions: "Be brief.",
        },
      },
    });
    expect(seen).toMatchObject([
      {
        params: {
          config: {
            tools: { web_search: false, view_image: false },
            model_verbosity: "low",
            mcp_servers: { one: { command: "true" }, two: { command: "true" } },
          },
          developerInstructions: "Be kind.\n\nBe brief.",
        },
      },
    ]);
  });

  it("that change the sandbox keep the configured network access", async () => {
    const settings = [
      { config: { sandbox_workspace_write: { network_access: true } } },
      { config: { "sandbox_workspace_write.network_access": true } },
      { launchOptions: { config: { sandbox_workspace_write: { network_access: true } } } },
    ];
    for (const setting of settings) {
      await using stage = await codexStage(() => say("ok"), setting);
      const { providerMetadata } = await generateText({
        model: stage.codex(),
        prompt: "one",
        providerOptions: { codex: { sandbox: "read-only" } },
      });
      await generateText({
        model: stage.codex(),
        prompt: "two",
        providerOptions: { codex: { sandbox: "workspace-write", threadId: threadIdOf(providerMetadata) } },
      });
      expect(permissions(stage.model.requests.at(-1))).toContain("workspace-write");
      expect(permissions(stage.model.requests.at(-1))).toContain("Network access is enabled");
    }
  });

  it("apply a detailed sandbox policy from the first turn on", async () => {
    await using stage = await codexStage(() => say("ok"), {
      sandboxPolicy: { type: "workspaceWrite", networkAccess: true, writableRoots: ["/opt"] },
    });
    await generateText({ model: stage.codex(), prompt: "go" });
    expect(permissions(stage.model.requests[0])).toContain("Network access is enabled");
    expect(JSON.stringify(stage.model.requests[0]?.input)).toContain("/opt");
    // A name given for one call counts more than the provider's detailed one.
    await generateText({
      model: stage.codex(),
      prompt: "go",
      providerOptions: { codex: { sandbox: "read-only" } },
    });
    expect(permissions(stage.model.requests.at(-1))).toContain("`read-only`");
    await generateText({
      model: stage.codex(),
      prompt: "go",
      providerOptions: { codex: { sandboxPolicy: { type: "externalSandbox", networkAccess: "enabled" } } },
    });
    expect(permissions(stage.model.requests.at(-1))).not.toContain("`read-only`");
  });

  it("set the reviewer of approvals", async () => {
    const sent: string[] = [];
    await using stage = await codexStage(() => say("ok"), {
      launchOptions: { onPacket: ({ text }) => void sent.push(text) },
      approvalsReviewer: "auto_review",
    });
    await generateText({ model: stage.codex(), prompt: "go" });
    const started = sent.find((text) => text.includes('"approvalsReviewer"') && text.includes('"result"'));
    expect(JSON.parse(started ?? "{}")).toMatchObject({ result: { approvalsReviewer: "auto_review" } });
  });

  it("turn mentions in the text into mentions of Codex", async () => {
    const sent: string[] = [];
    await using stage = await codexStage(() => say("ok"), {
      launchOptions: { onPacket: ({ direction, text }) => void (direction === "sent" && sent.push(text)) },
      extractMentions: true,
    });
    await writeFile(join(stage.workspace, "main.ts"), "");
    await writeFile(join(stage.workspace, "SKILL.md"), "---\nname: deploy\ndescription: Deploys.\n---\n");
    await generateText({
      model: stage.codex(),
      prompt:
        "ClientRequest @alice about @main.ts, [@mail](app://mail), [$deploy](SKILL.md) and [$gone](/nowhere/SKILL.md).",
    });
    const turn = JSON.parse(sent.find((text) => text.includes("turn/start")) ?? "{}") as {
      params?: { input: unknown[] };
    };
    expect(turn.params?.input.slice(1)).toEqual([
      { type: "skill", name: "deploy", path: join(stage.workspace, "SKILL.md") },
      { type: "mention", name: "mail", path: "app://mail" },
      { type: "mention", name: "main.ts", path: join(stage.workspace, "main.ts") },
    ]);
  });

  it("hide plans", async () => {
    const plan = { plan: [{ step: "one", status: "pending" }] };
    await using stage = await codexStage(
      ({ newOutputs }) => (newOutputs.length === 0 ? callTool("update_plan", plan) : say("ok")),
      { config: { tools: { update_plan: { enabled: true } } } },
    );
    const names = async (plans: boolean) => {
      const parts = await partsOf(stage.codex(undefined, { plans }), { prompt: responseText("go") });
      return ofType(parts, "tool-call").map(({ toolName }) => toolName);
    };
    expect(await names(true)).toEqual(["codex_plan"]);
    expect(await names(false)).toEqual([]);
  });
});

describe("a workspace", () => {
  const where = ({ input }: ScriptRequest): string =>
    /<cwd>([^<]*)<\/cwd>(?!.*<cwd>)/.exec(JSON.stringify(input))?.[1] ?? "";

  it("of a call is empty, and is removed after its turn", async () => {
    await using stage = await codexStage(() => say("ok"), { workspace: "call" });
    await generateText({ model: stage.codex(), prompt: "go" });
    await streamText({ model: stage.codex(), prompt: "go" }).text;
    const [one = "", two = ""] = stage.model.requests.map(where);
    expect(one).toContain("codexkit-workspace-");
    expect(two).not.toBe(one);
    expect(existsSync(one) || existsSync(two)).toBe(false);
  });

  it("of a conversation is kept when the conversation moves to another thread, and is removed with the provider", async () => {
    await using stage = await codexStage(
      ({ lastUserText, newOutputs }) =>
        lastUserText === "make" && newOutputs.length === 0 ? run("touch made") : say("ok"),
      { workspace: "conversation", sandbox: "danger-full-access", approvalPolicy: "never" },
    );
    const first = await generateText({ model: stage.codex(), prompt: "make" });
    const path = where(stage.model.requests[0] as ScriptRequest);
    expect(existsSync(join(path, "made"))).toBe(true);
    await generateText({
      model: stage.codex(),
      system: "Other instructions, so another thread.",
      messages: [
        { role: "user", content: "make" },
        ...first.responseMessages,
        { role: "user", content: "two" },
      ],
    });
    expect(where(stage.model.requests.at(-1) as ScriptRequest)).toBe(path);
    expect(existsSync(join(path, "made"))).toBe(true);
    await stage.codex.close();
    expect(existsSync(path)).toBe(false);
  });
});

describe("tools of the provider", () => {
  it("run during a turn, and are streamed with their results", async () => {
    await using stage = await codexStage(
      ({ newOutputs }) =>
        newOutputs.length === 0 ? callTool("order", { number: 42 }) : say(newOutputs[0]?.text ?? ""),
      {
        tools: {
          order: tool({
            description: "An order by its number.",
            inputSchema: z.object({ number: z.number() }),
            execute: ({ number }, { toolCallId }) => `order ${number} ${typeof toolCallId}`,
          }),
        },
      },
    );
    const result = await generateText({ model: stage.codex(), prompt: "go" });
    expect(result.text).toContain("order 42 string");
    expect(result.steps).toHaveLength(1);
    expect(result.content).toMatchObject([
      { type: "tool-call", toolName: "order", providerExecuted: true },
      { type: "tool-result", toolName: "order" },
      { type: "text" },
    ]);
  });

  it("are replaced by a tool of the call with the same name, which the client runs", async () => {
    const order = (by: string) =>
      tool({ description: by, inputSchema: z.object({ number: z.number() }), execute: () => by });
    await using stage = await codexStage(
      ({ newOutputs }) =>
        newOutputs.length === 0 ? callTool("order", { number: 42 }) : say(newOutputs[0]?.text ?? ""),
      { tools: { order: order("by the provider") } },
    );
    const first = await generateText({
      model: stage.codex(),
      prompt: "go",
      tools: { order: order("by the call") },
      stopWhen: isStepCount(3),
    });
    expect(first.text).toContain("by the call");
    expect(first.steps.map(({ toolCalls }) => toolCalls.length)).toEqual([1, 0]);
    // Without it, the provider's own is there again.
    const messages: ModelMessage[] = [...first.responseMessages, { role: "user", content: "again" }];
    const second = await generateText({ model: stage.codex(), messages });
    expect(second.text).toContain("by the provider");
  });

  it("that time out are reported to the model as an error, and the turn continues", async () => {
    await using stage = await codexStage(
      ({ newOutputs }) => (newOutputs.length === 0 ? callTool("slow", {}) : say(newOutputs[0]?.text ?? "")),
      {
        toolTimeoutMs: 20,
        tools: {
          slow: { description: "Slow.", inputSchema: z.object({}), execute: () => new Promise(() => {}) },
        },
      },
    );
    const { text } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(text).toMatch(/20 ms|time/i);
  });
});

describe("handlers of one model", () => {
  it("answer the approvals of its calls, on a thread that another model started", async () => {
    await using stage = await codexStage(
      ({ newOutputs }) => (newOutputs.length === 0 ? run("touch made") : say("ok")),
      { approvalPolicy: "untrusted", handlers: { approve: () => ({ decision: "decline" }) } },
    );
    const asked: string[] = [];
    const first = await generateText({ model: stage.codex(), prompt: "go" });
    const threadId = threadIdOf(first.providerMetadata);
    await generateText({
      model: stage.codex(undefined, {
        handlers: {
          approve: ({ kind }) => {
            asked.push(kind);
            return { decision: "decline" };
          },
        },
      }),
      prompt: "again",
      providerOptions: { codex: { threadId } },
    });
    expect(asked).toEqual(["command"]);
  });
});

describe("prepareStep", () => {
  it("causes warnings for changes that Codex can't make during a turn, and the response names the model that answered", async () => {
    const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
    const other = tool({ inputSchema: z.object({}), execute: () => "other" });
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0 ? callTool("look", {}) : say("ok"),
    );
    const { steps } = await generateText({
      model: stage.codex("mock-model"),
      prompt: "go",
      system: "One.",
      tools: { look, other },
      stopWhen: isStepCount(3),
      prepareStep: ({ stepNumber }) =>
        stepNumber === 0
          ? {}
          : {
              model: stage.codex("other-model"),
              instructions: "Two.",
              activeTools: ["other"],
              providerOptions: { codex: { effort: "high" } },
            },
    });
    expect(steps[1]?.response.modelId).toBe("mock-model");
    const features = (steps[1]?.warnings ?? []).map((warning) =>
      "feature" in warning ? warning.feature : "",
    );
    expect(new Set(features.map((feature) => feature.split(" ")[0]))).toEqual(
      new Set(["effort", "instructions", "model", "tools"]),
    );
    expect(stage.model.requests.map(({ body }) => body["model"])).toEqual(["mock-model", "mock-model"]);
  });
});

describe("a logger and a packet log", () => {
  it("receive warnings, Codex's own log, and every message to and from Codex", async () => {
    const warnings: string[] = [];
    const log: string[] = [];
    const packets: string[] = [];
    await using stage = await codexStage(() => say("ok"));
    await using codex = createCodex({
      launch: {
        ...stage.stage.launchOptions,
        env: { ...stage.stage.launchOptions.env, RUST_LOG: "info" },
      },
      cwd: stage.workspace,
      logger: { warn: (message) => void warnings.push(message), debug: (line) => void log.push(line) },
      onPacket: ({ direction, text }) => void packets.push(`${direction} ${text}`),
    });
    await generateText({ model: codex(), prompt: "go", temperature: 1 });
    expect(warnings).toEqual([expect.stringContaining("temperature")]);
    await expect.poll(() => log.join("\n")).toMatch(/INFO.*codex/);
    expect(packets.some((packet) => packet.startsWith("sent") && packet.includes("turn/start"))).toBe(true);
    expect(packets.some((packet) => packet.startsWith("received") && packet.includes("turn/completed"))).toBe(
      true,
    );
  });
});

describe("a logger that fails", () => {
  it.each([
    [
      "throws",
      () => {
        throw new Error("The disk is full.");
      },
    ],
    ["rejects", () => Promise.reject(new Error("The disk is full."))],
  ])("does not fail the call: it %s", async (_how, warn: () => unknown) => {
    await using stage = await codexStage(() => say("ok"), { logger: { warn } });
    const { text } = await generateText({ model: stage.codex(), prompt: "go", temperature: 1 });
    expect(text).toBe("ok");
  });
});

describe("a changing system prompt", () => {
  it("does not accumulate copies", async () => {
    await using stage = await codexStage(() => say("ok"));
    const messages: ModelMessage[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      messages.push({ role: "user", content: `m${minute}` });
      const answer = await generateText({
        model: stage.codex(),
        system: `You help. The time is 12:0${minute}.`,
        messages,
      });
      messages.push(...answer.responseMessages);
    }
    const seen = JSON.stringify(stage.model.requests.at(-1)?.input);
    expect(seen.split("The time is").length - 1).toBe(1);
    expect(seen).toContain("12:03");
    for (const text of ["m0", "m1", "m2", "m3"]) expect(seen).toContain(`"${text}"`);
  });
});

describe("a custom transport", () => {
  it("carries calls, and is opened again after it was lost", async () => {
    await using folders = await codexFolders({ model: ({ lastUserText }) => say(`re ${lastUserText}`) });
    const opened: LaunchedAppServer[] = [];
    await using codex = createCodex({
      cwd: folders.workspace,
      transport: {
        local: true,
        open: async () => {
          const server = await launchAppServer({ inheritEnv: false, env: folders.env });
          opened.push(server);
          return server.transport;
        },
      },
    });
    const ask = async (prompt: string) => (await generateText({ model: codex(), prompt })).text;
    expect(await ask("one")).toBe("re one");
    await opened[0]?.transport.close();
    expect(await ask("two")).toBe("re two");
    expect(opened).toHaveLength(2);
    for (const server of opened) await server.dispose();
  });
});
