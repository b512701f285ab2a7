import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import type { AgentSpec, SpecField } from "../../contract/agent-spec.ts";
import { SPEC_FIELDS } from "../../contract/parse-spec.ts";
import { type AsksPermission, planSession, type SessionPlan } from "./plan-session.ts";

const BASE: AgentSpec = { prompt: "Do it", cwd: "/srv/app" };

function plan(
  spec: Partial<AgentSpec> = {},
  http = false,
  asksPermission: AsksPermission = "always",
): SessionPlan {
  const context = {
    capabilities: { mcpCapabilities: { http } },
    supportsReasoningEffort: true,
    asksPermission,
  };
  return planSession({ ...BASE, ...spec }, context);
}

/** Where each field ends up: in the plan, in the handle, or in the list of ignored fields. */
const FIELDS: Record<SpecField, Partial<AgentSpec> & { readonly goes: "plan" | "handle" | "receipt" }> = {
  prompt: { goes: "plan", prompt: "Do that" },
  cwd: { goes: "plan", cwd: "/srv/other" },
  env: { goes: "receipt", env: { A: "1" } },
  autonomous: { goes: "receipt", autonomous: false },
  sandboxEnabled: { goes: "receipt", sandboxEnabled: false },
  sandboxLevel: { goes: "receipt", sandboxLevel: "read-only" },
  allowedTools: { goes: "receipt", allowedTools: ["Edit"] },
  disallowedTools: { goes: "receipt", disallowedTools: ["Edit"] },
  mcpStdioServers: { goes: "plan", mcpStdioServers: [{ name: "a", command: "b" }] },
  mcpToolNames: { goes: "receipt", mcpToolNames: ["mcp__a__b"] },
  maxTurns: { goes: "receipt", maxTurns: 3 },
  maxTokens: { goes: "receipt", maxTokens: 3 },
  maxCostUsd: { goes: "receipt", maxCostUsd: 3 },
  model: { goes: "plan", model: "large" },
  effort: { goes: "plan", effort: "high" },
  baseInstructions: { goes: "receipt", baseInstructions: "Be" },
  systemPromptAppend: { goes: "receipt", systemPromptAppend: "Be" },
  permissionConfig: { goes: "plan", permissionConfig: { defaultDecision: "deny" } },
  codeIntelligenceEnforcement: { goes: "receipt", codeIntelligenceEnforcement: { enforceUsage: true } },
  providerConfig: { goes: "plan", providerConfig: { mode: "plan" } },
  subAgentProvider: { goes: "receipt", subAgentProvider: "codex" },
  timeoutMs: { goes: "handle", timeoutMs: 1_000 },
  openTimeoutMs: { goes: "handle", openTimeoutMs: 1_000 },
  onProcessSpawned: { goes: "handle", onProcessSpawned: () => {} },
};

describe("the plan for an ACP session", () => {
  it("accounts for every field of a spec", () => {
    expect(Object.keys(FIELDS).toSorted()).toEqual([...SPEC_FIELDS].toSorted());
  });

  it.each(Object.entries(FIELDS))("translates %s", (field, { goes, ...spec }) => {
    const { ignored, ...rest } = plan(spec);
    const { ignored: _, ...before } = plan();
    expect(ignored.map((receipt) => receipt.field)).toEqual(goes === "receipt" ? [field] : []);
    // The policy respects the sandbox, but only where the agent asks, so the field is listed as ignored too.
    const changes = goes === "plan" || field.startsWith("sandbox");
    expect(isDeepStrictEqual(rest, before)).toBe(!changes);
  });

  it("passes servers in the protocol's format, and http servers only to agents that support them", () => {
    const mcpStdioServers = [
      { name: "near", command: "run", args: ["x"], env: { A: "1" } },
      { name: "far", type: "http", url: "https://example.com/mcp", headers: { B: "2" } },
    ] as const;
    const near = { name: "near", command: "run", args: ["x"], env: [{ name: "A", value: "1" }] };
    const far = {
      type: "http",
      name: "far",
      url: "https://example.com/mcp",
      headers: [{ name: "B", value: "2" }],
    };
    expect(plan({ mcpStdioServers }, true)).toMatchObject({
      session: { mcpServers: [near, far] },
      ignored: [],
    });
    expect(plan({ mcpStdioServers })).toMatchObject({
      session: { mcpServers: [near] },
      ignored: [{ field: "mcpStdioServers", reason: expect.stringContaining("far") }],
    });
  });

  it("rejects unknown settings", () => {
    expect(() => plan({ providerConfig: { colour: "red" } })).toThrow(
      expect.objectContaining({ code: "invalid_spec", message: expect.stringContaining("colour") }),
    );
  });

  it.each<[AgentSpec["permissionConfig"], boolean]>([
    [{ disallowPatterns: ["^git push"] }, true],
    [{ allowPatterns: ["^npm"] }, true],
    [{ defaultDecision: "deny" }, true],
    [{ defaultDecision: "prompt" }, true],
    [{ defaultDecision: "allow" }, false],
    [{ disallowPatterns: [] }, false],
    [undefined, false],
  ])("lists denials as ignored if the agent may not ask: %j", (permissionConfig, isIgnored) => {
    const { ignored } = plan({ permissionConfig }, false, "sometimes");
    expect(ignored.map(({ field }) => field)).toEqual(isIgnored ? ["permissionConfig"] : []);
    expect(plan({ permissionConfig }).ignored).toEqual([]);
  });
});
