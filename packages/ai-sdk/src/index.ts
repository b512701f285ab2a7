// Codex as a model of the AI SDK.
import "./require-node.ts";

// Entry points: `codex("gpt-…")`, or a provider with its own settings.
export { codex, type CodexModelProvider, createCodex } from "./codex-provider/create-codex.ts";
export type { CodexLogger, CodexSettings, CustomTransport } from "./options/settings.ts";
export type { CodexModelSettings } from "./options/model-settings.ts";
export type { CodexHandlers } from "./options/approval-settings.ts";
export type { CodexTool, CodexToolContext } from "./tools/provider-tools.ts";
export type { CodexLanguageModel } from "./model/codex-language-model.ts";
export type { StepAnswers as CodexStepAnswers } from "./prompt/read-answers.ts";

// Types of a call's `providerOptions.codex` and of the returned `providerMetadata.codex`.
export type {
  ApprovalPolicyOption,
  CodexLanguageModelOptions,
  McpServerOption,
  SandboxPolicyOption,
  SharedOptions as CodexSharedOptions,
} from "./options/options.ts";
export type { CodexModelId } from "./options/model-ids.ts";
export type { PartMetadata as CodexPartMetadata } from "./items/metadata.ts";

// Operations on threads, such as steer, interrupt, queue, fork, compact, read and list.
export type { CodexThreads, ThreadReference } from "./codex-provider/codex-threads.ts";

// Errors and limits.
export { CodexModelError, type CodexModelErrorCode, type UnusedToolResult } from "./errors.ts";
export { AI_SDK_LIMITS } from "./limits.ts";

// The provider for `ai` 6, which accepts only V3 models.
export { type CodexModelProviderV3, createCodexV3 } from "./v3/create-codex-v3.ts";
export { asV3 } from "./v3/as-v3.ts";
export type { ModelV3 } from "./v3/model-v3.ts";
