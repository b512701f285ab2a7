import type { AcpAgent } from "./process/acp-agent.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";

/** What an ACP agent can do, by what it said of itself. */
export function acpCapabilities(
  agent: Pick<AcpAgent, "capabilities" | "canSteer">,
  {
    humanLabel,
    supportsReasoningEffort,
    needsPermissionConfig,
  }: Pick<AgentCapabilities, "humanLabel" | "supportsReasoningEffort" | "needsPermissionConfig">,
): AgentCapabilities {
  return {
    // An extension of the protocol, which some agents have.
    supportsMessageInjection: agent.canSteer,
    supportsSessionResume: canResume(agent),
    // ACP has no request for the stored form of a session.
    supportsSessionExport: false,
    // Every ACP agent has to take servers over stdio.
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
