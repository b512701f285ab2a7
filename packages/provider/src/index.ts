// One contract over coding agents for fleet runners: spawn, resume, events, inject, stop.
import "./require-node.ts";

// The contract.
export type { AgentHandle, AgentProvider, CallOptions, SpawnOptions } from "./contract/agent-provider.ts";
export {
  type AgentCapabilities,
  TOOL_PERMISSION_FORMATS,
  type ToolPermissionFormat,
} from "./contract/capabilities.ts";
export type {
  AgentSpec,
  CodeIntelligenceEnforcement,
  McpServerSpec,
  PermissionConfig,
  SpecField,
} from "./contract/agent-spec.ts";
export {
  ProviderError,
  type ProviderErrorCode,
  type ProviderErrorJson,
  type ProviderErrorOptions,
} from "./contract/provider-error.ts";
export {
  createPricer,
  type ModelPrice,
  type ModelUsage,
  type Pricer,
  type Prices,
} from "./contract/prices.ts";

// What a session tells.
export type {
  ActivityEvent,
  AgentCost,
  AgentErrorCode,
  AgentEvent,
  AssistantTextEvent,
  ErrorEvent,
  ErrorSubtype,
  InitEvent,
  ResultEvent,
  Subagent,
  SystemEvent,
  SystemSubtype,
  TerminalEvent,
  ToolCategory,
  ToolProgressEvent,
  ToolResultEvent,
  ToolUseEvent,
  UsageEvent,
} from "./contract/agent-event.ts";

// For those who choose among providers.
export { createProviders, type Providers } from "./contract/providers.ts";

// For those who write one: the door, the receipt and the law of the stream.
export { parseSpec, SPEC_FIELDS } from "./contract/parse-spec.ts";
export { type IgnoredField, refuseIgnored } from "./contract/ignored-field.ts";
export { EventStream, type EventStreamOptions } from "./contract/event-stream.ts";
export { errorEvent, failedResult } from "./contract/session-end.ts";
export { IdempotentSpawns } from "./contract/idempotent-spawns.ts";
export { openWithin } from "./contract/open-within.ts";

// Codex.
export { CodexProvider, type CodexProviderOptions } from "./codex/codex-provider.ts";
export { CODEX_CAPABILITIES } from "./codex/codex-capabilities.ts";
export { type PlanContext, planSpawn, type SpawnPlan } from "./codex/plan/plan-spawn.ts";
export type { PermissionPlan } from "./codex/plan/plan-permissions.ts";
export type { ToolKind } from "./codex/plan/tool-rule.ts";

// An agent for tests of those who run agents.
export { StubProvider, type StubProviderOptions } from "./stub/stub-provider.ts";
export { STUB_BEHAVIOURS, type StubBehaviour, type StubSettings } from "./stub/stub-settings.ts";
export { ManualClock, type StubClock } from "./stub/stub-clock.ts";
export { StubSessions } from "./stub/stub-sessions.ts";

// The suite that holds a provider to the contract.
export { runConformance } from "./conformance/run-conformance.ts";
export { registerConformance, type TestRunner } from "./conformance/register-conformance.ts";
export { formatReport } from "./conformance/format-report.ts";
export {
  CONFORMANCE_LIMITS,
  type ConformanceLimits,
  type ConformanceOptions,
  type ConformanceScenarios,
  type ProviderFactory,
} from "./conformance/conformance-options.ts";
export {
  CONFORMANCE_TIERS,
  type CheckReport,
  type CheckStatus,
  type ConformanceReport,
  type ConformanceTier,
  type TierReport,
} from "./conformance/conformance-report.ts";

// Any agent that speaks the Agent Client Protocol.
export { AcpProvider, type AcpProviderOptions } from "./acp/acp-provider.ts";
export type { AcpHandle } from "./acp/acp-handle.ts";
export type { AcpCommand } from "./acp/process/start-process.ts";
export { ACP_LIMITS, type AcpLimits } from "./acp/limits.ts";
export type { AcpAuthMethod } from "./acp/process/auth-method.ts";
export type { AcpProviderConfig, AsksPermission } from "./acp/plan/plan-session.ts";
