import type { AcpAgent } from "./process/acp-agent.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";

/** The capabilities of an ACP agent, derived from its `initialize` response. */
export function acpCapabilities(
  agent: Pick<AcpAgent, "capabilities" | "canSteer">,
  {
    humanLabel,
    supportsReasoningEffort,
    needsPermissionConfig,
  }: Pick<AgentCapabilities, "humanLabel" | "supportsReasoningEffort" | "needsPermissionConfig">,
): AgentCapabilities {
  return {
    // A protocol extension that some agents support.
    supportsMessageInjection: agent.canSteer,
    supportsSessionResume: canResume(agent),
    // ACP has no request to export a session.
    supportsSessionExport: false,
    // Every ACP agent must accept stdio MCP servers.
    supportsToolPlugins: true,
    needsBaseInstructions: false,
    needsPermissionConfig,
    supportsCodeIntelligenceEnforcement: false,
    emitsSubagentEvents: false,
    supportsReasoningEffort,
    toolPermissionFormat: "codex",
    acceptsAllowedToolsList: false,
    acceptsMcpServerSpec: true,
    humanLabel,
  };
}

function canResume({
  capabilities: { loadSession, sessionCapabilities },
}: Pick<AcpAgent, "capabilities">): boolean {
  return loadSession === true || Boolean(sessionCapabilities?.resume);
}
