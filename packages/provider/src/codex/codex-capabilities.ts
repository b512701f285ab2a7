import type { AgentCapabilities } from "../contract/capabilities.ts";

/** What is true of Codex 0.166; `codex-capabilities.test.ts` proves each line on the real one. */
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
