// Call, model and provider options on the real codex.
import { callTool, say, type ScriptRequest } from "@codexkit/scripted-model";
import { generateText } from "ai";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import { codexStage, ofType, partsOf, userPrompt, threadIdOf } from "../../test/codex-stage.ts";
import { type CodexLanguageModelOptions, type CodexModelId, createCodex } from "../index.ts";

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]["providerOptions"]>;

/** Returns the sandbox description that Codex sends to the model. */
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
  ])("are rejected with the correct key for %s", async (wrong, right) => {
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
    "in the wrong scope or with a wrong nested key are rejected with the correct one: %j",
    async (options, words) => {
      await using codex = createCodex({ launch: { codexPath: "/nowhere/codex" } });
      const call = generateText({ model: codex(), prompt: "go", providerOptions: { codex: options } });
      await expect(call).rejects.toMatchObject({
        code: "invalid_options",
        message: expect.stringContaining(words),
      });
    },
  );

  it("of a provider are rejected with the correct key too", () => {
    expect(() => createCodex({ codexPath: "/usr/bin/codex" } as object)).toThrow(
      'Did you mean "launch.codexPath"',
    );
    expect(() => createCodex({ prestartedThreads: -1 })).toThrow("prestartedThreads");
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
    // A call's sandbox name overrides the provider's detailed policy.
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

  it("convert mentions in the text to Codex mentions", async () => {
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
        "Ask @alice about @main.ts, [@mail](app://mail), [$deploy](SKILL.md) and [$gone](/nowhere/SKILL.md).",
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

  it("can hide plans", async () => {
    const plan = { plan: [{ step: "one", status: "pending" }] };
    await using stage = await codexStage(
      ({ newOutputs }) => (newOutputs.length === 0 ? callTool("update_plan", plan) : say("ok")),
      { config: { tools: { update_plan: { enabled: true } } } },
    );
    const names = async (plans: boolean) => {
      const parts = await partsOf(stage.codex(undefined, { plans }), { prompt: userPrompt("go") });
      return ofType(parts, "tool-call").map(({ toolName }) => toolName);
    };
    expect(await names(true)).toEqual(["codex_plan"]);
    expect(await names(false)).toEqual([]);
  });
});
