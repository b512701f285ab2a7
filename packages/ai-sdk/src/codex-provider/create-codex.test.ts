import { definePolicy } from "@codexkit/approvals";
import { gate, run, say, waitFor } from "@codexkit/scripted-model";
import { codexFolders } from "@codexkit/testing";
import { createProviderRegistry, defaultSettingsMiddleware, generateText, wrapLanguageModel } from "ai";
import { Codex } from "codexkit";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { codexStage, ofType, partsOf, userPrompt } from "../../test/codex-stage.ts";
import { codex, type CodexSettings, createCodex } from "../index.ts";

describe("a provider", () => {
  it("creates models through a direct call, languageModel and chat, without starting codex", () => {
    for (const model of [codex("gpt-x"), codex.languageModel("gpt-x"), codex.chat("gpt-x")]) {
      expect(model).toMatchObject({ specificationVersion: "v4", provider: "codex", modelId: "gpt-x" });
    }
    expect(codex.specificationVersion).toBe("v4");
    expect(codex().modelId).toBe("default");
  });

  it("can't be called with new, and has no other model types", () => {
    const Provider = codex as unknown as new (modelId: string) => unknown;
    expect(() => new Provider("x")).toThrow("without new");
    expect(() => codex.embeddingModel("x")).toThrow(expect.objectContaining({ name: "AI_NoSuchModelError" }));
    expect(() => codex.imageModel("x")).toThrow(expect.objectContaining({ name: "AI_NoSuchModelError" }));
  });

  it.each([
    [{ sandbox: "none" }, "sandbox"],
    [{ cwdd: "/" }, "cwdd"],
    [{ codex: {} }, "Codex"],
    [{ launch: {}, connect: { url: "ws://x" } }, "one of"],
    [{ suspendTimeoutMs: -1 }, "suspendTimeoutMs"],
    [{ connect: {} }, "url"],
    [{ handlers: { aprove: () => "pass" } }, 'Did you mean "approve"'],
    [{ handlers: { approve: 5 } }, "must be a function"],
    [{ policy: {} }, "definePolicy"],
    [{ policy: null }, "definePolicy"],
    [{ logger: { debug: 5 } }, "must be a function"],
    [{ logger: { wran: () => {} } }, 'Did you mean "warn"'],
    [{ mcpServers: { a: { comand: "x" } } }, 'Did you mean "command"'],
    [{ mcpServers: { a: { args: [] } } }, "needs a command or a url"],
    [{ sandboxPolicy: { type: "workspaceWrite", writeableRoots: ["/"] } }, 'Did you mean "writableRoots"'],
    [{ threadId: "x" }, "providerOptions: { codex: { threadId } }"],
  ])("rejects invalid settings: %j", (settings, word) => {
    const make = (): unknown => createCodex(settings as CodexSettings);
    expect(make).toThrow(expect.objectContaining({ code: "invalid_options" }));
    expect(make).toThrow(word);
  });

  it("accepts loggers with more methods, policies, and functions that return a policy", () => {
    const policy = definePolicy({ preset: "read-only" });
    const own = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    for (const logger of [console, own]) expect(() => createCodex({ logger, policy })).not.toThrow();
    expect(() => createCodex({ policy: () => policy, handlers: {}, mcpServers: {} })).not.toThrow();
  });

  it("works with a registry and middleware", async () => {
    await using stage = await codexStage([[say("a")]]);
    const registry = createProviderRegistry({ codex: stage.codex });
    const model = wrapLanguageModel({
      model: registry.languageModel("codex:mock-model"),
      middleware: defaultSettingsMiddleware({
        settings: { providerOptions: { codex: { instructions: "From middleware." } } },
      }),
    });
    await generateText({ model, prompt: "go" });
    expect(JSON.stringify(stage.model.requests[0]?.input)).toContain("From middleware.");
  });

  it("rejects running and new calls once it is closed", async () => {
    const never = gate();
    await using stage = await codexStage(() => [say(["so far", waitFor(never)])]);
    const running = stage.codex().doGenerate({ prompt: userPrompt("go") });
    const streamed = partsOf(stage.codex(), { prompt: userPrompt("go") });
    const rejection = running.then(
      () => undefined,
      (error: unknown) => error,
    );
    await stage.model.waitForRequests(2);
    await stage.codex.close();
    expect(await rejection).toMatchObject({ code: "closed" });
    expect(ofType(await streamed, "error")).toMatchObject([{ error: { code: "closed" } }]);
    await expect(stage.codex().doGenerate({ prompt: userPrompt("go") })).rejects.toMatchObject({
      code: "closed",
    });
    // A codex that the caller supplied is not closed.
    expect(stage.stage.codex.pid).toBeDefined();
  });
});

describe("a provider's codex", () => {
  it("is launched by the first call, shared by all calls, and shut down after an idle period", async () => {
    await using folders = await codexFolders({ model: ({ lastUserText }) => say(lastUserText) });
    const pids = new Set<number | undefined>();
    const ended = Promise.withResolvers<void>();
    await using provider = createCodex({
      cwd: folders.workspace,
      idleShutdownMs: 20,
      launch: {
        env: folders.env,
        inheritEnv: false,
        onSpawn: (child) => {
          pids.add(child.pid);
          child.once("exit", () => ended.resolve());
        },
      },
    });
    const texts = ["a", "b", "c"].map(
      async (prompt) => (await generateText({ model: provider(), prompt })).text,
    );
    expect(await Promise.all(texts)).toEqual(["a", "b", "c"]);
    expect(pids.size).toBe(1);
    await ended.promise;
    const { text } = await generateText({ model: provider(), prompt: "again" });
    expect(text).toBe("again");
    expect(pids.size).toBe(2);
  });

  it.each([
    ["is done", say("hello back"), "stop"],
    ["leaves an approval unanswered", run("true", { escalate: "why" }), "tool-calls"],
  ])("does not keep a program alive that %s", async (_, reply, finishReason) => {
    await using folders = await codexFolders({ model: [[reply]] });
    const program = fileURLToPath(new URL("../../test/one-call.ts", import.meta.url));
    const { env } = folders;
    const launch = JSON.stringify({ env, inheritEnv: false, cwd: folders.workspace });
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=codexkit:source", program, launch],
      { timeout: 25_000 },
    );
    expect(stdout).toBe(finishReason);
  });

  it("can be an existing one", async () => {
    await using stage = await codexStage([[say("a")]]);
    expect(stage.stage.codex).toBeInstanceOf(Codex);
    const models = await stage.codex.listModels();
    expect(models.some(({ isDefault }) => isDefault)).toBe(true);
  });
});
