// Codex's own work as parts of a stream, on the real codex.
import { callTool, item, patch, run, say, type Script } from "@codexkit/scripted-model";
import { streamText, toUIMessageStream } from "ai";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { codexStage, ofType, partsOf, userPrompt, type StageOptions } from "./codex-stage.ts";

const mcpServer = fileURLToPath(new URL("../../sdk/test/mcp-server.ts", import.meta.url));
/** Returns the parts of a turn in which the model does one thing and then says that it is done. */
async function shown(
  did: Parameters<typeof once>[0],
  options: StageOptions = {},
): ReturnType<typeof partsOf> {
  await using stage = await codexStage(once(did), options);
  return await partsOf(stage.codex(), { prompt: userPrompt("go") });
}

function once(did: ReturnType<typeof run> | ReturnType<typeof item> | ReturnType<typeof patch>): Script {
  return ({ index }) => (index === 0 ? [did] : say("done"));
}

describe("Codex's own work", () => {
  it("is a provider-executed call with one final result", async () => {
    const parts = await shown(run("echo hello; exit 3"));
    const [call] = ofType(parts, "tool-call");
    expect(call).toMatchObject({ toolName: "codex_exec", providerExecuted: true, dynamic: true });
    expect(JSON.parse(call?.input ?? "")).toMatchObject({ command: expect.stringContaining("echo hello") });
    const results = ofType(parts, "tool-result");
    expect(results.filter(({ preliminary }) => preliminary !== true)).toMatchObject([
      { toolCallId: call?.toolCallId, result: { exitCode: 3, output: "hello\n", status: "failed" } },
    ]);
    expect(results.at(-1)?.preliminary).toBeUndefined();
    expect(results.at(-1)?.isError).toBeUndefined();
    expect(ofType(parts, "tool-input-start")).toMatchObject([{ providerExecuted: true, dynamic: true }]);
  });

  it("includes patches, whose diff is also the turn's diff", async () => {
    const parts = await shown(patch("*** Begin Patch\n*** Add File: made.txt\n+hello\n*** End Patch"), {
      sandbox: "workspace-write",
    });
    expect(ofType(parts, "tool-call")).toMatchObject([{ toolName: "codex_patch" }]);
    expect(ofType(parts, "tool-result")).toMatchObject([
      { result: { status: "completed", files: [expect.stringContaining("made.txt")] } },
    ]);
    expect(ofType(parts, "finish")).toMatchObject([
      { providerMetadata: { codex: { diff: expect.stringContaining("+hello") } } },
    ]);
  });

  it("includes calls of MCP tools", async () => {
    const parts = await shown(callTool("pay", { amount: 2 }, { namespace: "mcp__till" }), {
      mcpServers: {
        till: { command: process.execPath, args: [mcpServer], toolsApproval: "approve", required: true },
      },
    });
    expect(ofType(parts, "tool-call")).toMatchObject([
      { toolName: "mcp__till__pay", input: '{"amount":2}', dynamic: true },
    ]);
    expect(ofType(parts, "tool-result")).toMatchObject([{ result: { status: "completed" } }]);
  });

  it("includes web searches, with the pages as sources", async () => {
    const parts = await shown(
      item({
        type: "web_search_call",
        id: "ws_1",
        status: "completed",
        action: { type: "open_page", url: "https://example.com/page" },
      }),
      { config: { features: { web_search_request: true } } },
    );
    expect(ofType(parts, "tool-call")).toMatchObject([{ toolName: "codex_web_search", toolCallId: "ws_1" }]);
    expect(ofType(parts, "tool-result")).toHaveLength(1);
    expect(ofType(parts, "source")).toMatchObject([{ sourceType: "url", url: "https://example.com/page" }]);
  });

  it("includes each version of the plan", async () => {
    const parts = await shown(
      callTool("update_plan", {
        plan: [
          { step: "look", status: "completed" },
          { step: "leap", status: "in_progress" },
        ],
      }),
      { config: { tools: { update_plan: { enabled: true } } } },
    );
    expect(ofType(parts, "tool-call")).toMatchObject([{ toolName: "codex_plan" }]);
    expect(ofType(parts, "tool-result")).toMatchObject([
      { result: { plan: [{ step: "look" }, { step: "leap", status: "inProgress" }] } },
    ]);
  });

  it("can be displayed by a chat that does not know the tools", async () => {
    await using stage = await codexStage(once(run("echo hello")));
    const { fullStream } = streamText({ model: stage.codex(), prompt: "go" });
    const chunks = await Array.fromAsync(toUIMessageStream({ stream: fullStream }));
    expect(chunks).toContainEqual(
      expect.objectContaining({ type: "tool-input-available", toolName: "codex_exec", dynamic: true }),
    );
    expect(chunks.findLast(({ type }) => type === "tool-output-available")).toMatchObject({
      output: { exitCode: 0, output: "hello\n" },
    });
    expect(chunks.filter(({ type }) => type === "error")).toEqual([]);
  });
});
