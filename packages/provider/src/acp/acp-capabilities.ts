import type { AgentCapabilities as AcpAgentCapabilities } from "@agentclientprotocol/sdk";
import type { AgentCapabilities } from "../contract/capabilities.ts";

/** What an ACP agent can do, by what it said of itself. */
export function acpCapabilities(
  agent: AcpAgentCapabilities,
  { humanLabel, supportsReasoningEffort }: Pick<AgentCapabilities, "humanLabel" | "supportsReasoningEffort">,
): AgentCapabilities {
  return {
    // A prompt that runs takes no further words in ACP.
    supportsMessageInjection: false,
    supportsSessionResume: canResume(agent),
    // ACP has no request for the stored form of a session.
    supportsSessionExport: false,
    // Every ACP agent has to take servers over stdio.
    supportsToolPlugins: true,
    needsBaseInstructions: false,
    needsPermissionConfig: true,
    supportsCodeIntelligenceEnforcement: false,
    emitsSubagentEvents: false,
    supportsReasoningEffort,
    toolPermissionFormat: "codex",
    acceptsAllowedToolsList: false,
    acceptsMcpServerSpec: true,
    humanLabel,
  };
}

function canResume({ loadSession, sessionCapabilities }: AcpAgentCapabilities): boolean {
  return loadSession === true || Boolean(sessionCapabilities?.resume);
}
