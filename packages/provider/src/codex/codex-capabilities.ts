import type { AgentCapabilities } from "../contract/capabilities.ts";

/** The capabilities of Codex 0.166. `codex-capabilities.test.ts` verifies each one on the real Codex. */
export const CODEX_CAPABILITIES: AgentCapabilities = {
  supportsMessageInjection: true,
  supportsSessionResume: true,
  supportsSessionExport: true,
  supportsToolPlugins: true,
  needsBaseInstructions: true,
  needsPermissionConfig: true,
  supportsCodeIntelligenceEnforcement: false,
  emitsSubagentEvents: true,
  supportsReasoningEffort: true,
  toolPermissionFormat: "codex",
  acceptsAllowedToolsList: true,
  acceptsMcpServerSpec: true,
  humanLabel: "Codex",
};
