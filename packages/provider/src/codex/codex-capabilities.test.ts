// Verifies every capability that the provider declares, on the real codex.
import { callTool, gate, run, say, type Script, waitFor } from "@codexkit/scripted-model";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CodexFixture, codexFixture, ofKind, read } from "../../test/codex-fixture.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";
import { CODEX_CAPABILITIES } from "./codex-capabilities.ts";

const mcpServer = fileURLToPath(new URL("../../test/mcp-server.ts", import.meta.url));
const echo = { name: "echo", command: process.execPath, args: [mcpServer] };

const hold = gate();

/** A model that follows the prompt. */
const script: Script = (request) => {
  const { lastUserText: prompt, newOutputs } = request;
  const [output] = newOutputs;
  if (prompt === "wait") return say(["waiting", waitFor(hold)]);
  if (prompt.startsWith("run ")) return output ? say(output.text) : run(prompt.slice(4), { callId: "c" });
  if (prompt === "call") {
    return output ? say(output.text) : callTool("echo", { text: "pong" }, { namespace: "mcp__echo" });
  }
  if (prompt === "delegate") {
    if (!output) return callTool("spawn_agent", { message: "run echo below" }, AGENTS);
    const id = /"agent_id":"([^"]+)"/.exec(output.text)?.[1];
    return id === undefined ? say("done") : callTool("wait_agent", { targets: [id] }, AGENTS);
  }
  return say(JSON.stringify(request.body));
};

const AGENTS = { namespace: "multi_agent_v1" };

/** Whether a command runs under these rules. */
async function runs(
  fixture: CodexFixture,
  command: string,
  rules: Parameters<CodexFixture["spec"]>[1],
): Promise<boolean> {
  const transcript = await fixture.run(`run ${command}`, rules);
  return ofKind(transcript, "tool_result").some(({ toolUseId, isError }) => toolUseId === "c" && !isError);
}

/** Determines the actual value of each capability, as far as it is observable. A capability without a proof does not compile. */
const PROOFS: {
  readonly [Key in keyof AgentCapabilities]: (fixture: CodexFixture) => Promise<AgentCapabilities[Key]>;
} = {
  supportsMessageInjection: async (fixture) => {
    const handle = await fixture.provider.spawn(fixture.spec("wait"));
    const before = fixture.model.requests.length;
    await handle.inject("a nonce in the middle");
    hold.open();
    const { end } = await read(handle);
    return fixture.model.requests.length > before && end.message.includes("a nonce in the middle");
  },
  supportsSessionResume: async (fixture) => {
    const { sessionId } = await fixture.run("remember the nonce");
    const { end } = await read(await fixture.provider.resume(sessionId, fixture.spec("again")));
    return end.message.includes("remember the nonce");
  },
  supportsSessionExport: async (fixture) => {
    const { sessionId } = await fixture.run("remember the nonce");
    const bytes = await fixture.provider.export(sessionId);
    // The same model, with a home that never had the session.
    await using other = await codexFixture(fixture.model, { modelName: "gpt-5.5" });
    expect(await other.provider.import(bytes)).toBe(sessionId);
    const { end } = await read(await other.provider.resume(sessionId, other.spec("again")));
    return end.message.includes("remember the nonce");
  },
  supportsToolPlugins: async (fixture) => {
    const { end } = await fixture.run("call", { mcpStdioServers: [echo] });
    return end.message.includes("pong");
  },
  acceptsMcpServerSpec: async (fixture) => {
    const home = String(fixture.options.env?.["CODEX_HOME"]);
    const before = await readFile(join(home, "config.toml"), "utf8");
    const [withServer, without] = [
      await fixture.run("call", { mcpStdioServers: [echo] }),
      await fixture.run("call"),
    ];
    expect(await readFile(join(home, "config.toml"), "utf8")).toBe(before);
    return withServer.end.message.includes("pong") && !without.end.message.includes("pong");
  },
  needsBaseInstructions: async (fixture) => {
    const { end } = await fixture.run("show", { baseInstructions: "You are a nonce." });
    return end.message.includes('"text":"You are a nonce."');
  },
  needsPermissionConfig: async (fixture) => {
    const [denied, allowed] = [
      await runs(fixture, "uname", { permissionConfig: { defaultDecision: "deny" } }),
      await runs(fixture, "uname", {}),
    ];
    return allowed && !denied;
  },
  supportsCodeIntelligenceEnforcement: async (fixture) => {
    const spec = fixture.spec("go", { codeIntelligenceEnforcement: { enforceUsage: true } });
    const required = { ...spec, required: ["codeIntelligenceEnforcement"] } as const;
    await expect(fixture.provider.spawn(required)).rejects.toMatchObject({ code: "unsupported" });
    return false;
  },
  emitsSubagentEvents: async (fixture) => {
    const { sessionId, events } = await fixture.run("delegate");
    const below = events.filter((event) => "subagent" in event && event.subagent.parentId === sessionId);
    expect(below).toContainEqual(expect.objectContaining({ kind: "tool_result", content: "below\n" }));
    return below.length > 0;
  },
  supportsReasoningEffort: async (fixture) => {
    const { end } = await fixture.run("show", { effort: "high" });
    return end.message.includes('"effort":"high"');
  },
  toolPermissionFormat: async (fixture) => {
    // Codex's format is regular expressions for commands. As a pattern, `Bash(…)` matches no command.
    const rules = (pattern: string): object => ({ permissionConfig: { allowPatterns: [pattern] } });
    const byRegex = await runs(fixture, "uname -a", rules("^uname( -a)?$"));
    const byName = await runs(fixture, "uname -a", rules("Bash\\(uname:\\*\\)"));
    return byRegex && !byName ? "codex" : "claude";
  },
  acceptsAllowedToolsList: async (fixture) => {
    const rules = { allowedTools: ["Bash(uname:*)"] };
    return (await runs(fixture, "uname -a", rules)) && !(await runs(fixture, "id", rules));
  },
  humanLabel: (fixture) =>
    Promise.resolve(fixture.provider.name === "codex" ? "Codex" : fixture.provider.name),
};

describe("Codex", () => {
  let fixture: CodexFixture;
  beforeAll(async () => {
    fixture = await codexFixture(script, { modelName: "gpt-5.5" });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  it.each(Object.keys(PROOFS) as (keyof AgentCapabilities)[])("has %s as declared", async (capability) => {
    expect(await PROOFS[capability](fixture)).toBe(CODEX_CAPABILITIES[capability]);
  });
});
