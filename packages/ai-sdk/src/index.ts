// Codex as a model of the AI SDK.
import "./require-node.ts";

// The way in: `codex("gpt-…")`, or a provider with settings of its own.
export { codex, type CodexProvider, createCodex } from "./codex-provider/create-codex.ts";
export type { CodexLogger, CodexSettings, CustomTransport } from "./codex-provider/settings.ts";
export type { CodexModelSettings } from "./codex-provider/model-settings.ts";
export type { CodexHandlers } from "./approval/approval-settings.ts";
export type { CodexTool, CodexToolContext } from "./tools/provider-tools.ts";
export type { CodexLanguageModel } from "./model/codex-language-model.ts";

// One call: `providerOptions.codex`, and what comes back as `providerMetadata.codex`.
export type {
  ApprovalPolicyOption,
  CodexLanguageModelOptions,
  McpServerOption,
  SandboxPolicyOption,
  SharedOptions as CodexSharedOptions,
} from "./model/options.ts";
export type { CodexModelId } from "./model/model-ids.ts";
export type { PartMetadata as CodexPartMetadata } from "./stream/metadata.ts";

// Threads beside calls: steer, interrupt, queue, fork, compact, read, list.
export type { CodexThreads, ThreadReference } from "./codex-provider/codex-threads.ts";

// Errors and limits.
export { CodexModelError, type CodexModelErrorCode, type UnusedToolResult } from "./errors.ts";
export { limits } from "./limits.ts";

// The same for `ai` 6, which takes models of V3 alone.
export { type CodexProviderV3, createCodexV3 } from "./v3/create-codex-v3.ts";
export { asV3 } from "./v3/as-v3.ts";
export type { ModelV3 } from "./v3/model-v3.ts";
