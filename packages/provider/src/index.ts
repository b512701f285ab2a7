// One contract over coding agents for fleet runners: spawn, resume, events, inject, stop. Loads no agent.
import "./require-node.ts";

// The contract.
export type {
  AgentHandle,
  AgentProvider,
  ProviderCallOptions,
  SpawnOptions,
} from "./contract/agent-provider.ts";
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
export type { ModelPrice, ModelUsage, Prices } from "codexkit/options";

// Events of a session.
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

// Running a fleet: providers by name, and the sum of costs.
export { createProviders, type Providers } from "./contract/providers.ts";
export { addCosts } from "./contract/add-costs.ts";

// Writing a provider: validation, ignored fields, the event stream, and opening sessions.
export { parseSpec, SPEC_FIELDS } from "./contract/parse-spec.ts";
export { type IgnoredField, refuseIgnored } from "./contract/ignored-field.ts";
export { EventStream, type EventStreamOptions } from "./contract/event-stream.ts";
export { errorEvent, failedResult } from "./contract/session-end.ts";
export { IdempotentSpawns } from "./contract/idempotent-spawns.ts";
export { openWithin } from "./contract/open-within.ts";
