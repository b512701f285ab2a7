// Typed prompts for Codex: sections, transactional tools, sessions, budgets, deadlines and workspaces.
import "./require-node.ts";

// Prompts and their sections.
export {
  definePrompt,
  type AnyPromptDefinition,
  type Prompt,
  type PromptDefinition,
  type PromptOptions,
} from "./prompt/define-prompt.ts";
export {
  defineSection,
  type PromptSkill,
  type RenderContext,
  type Section,
  type Visibility,
} from "./prompt/section.ts";
export {
  renderPrompt,
  type RenderedPrompt,
  type RenderedSection,
  type RenderedTool,
  type RenderOptions,
} from "./prompt/render-prompt.ts";
export { hashSection, hashTool, PromptOverrides, type StoredOverrides } from "./prompt/overrides.ts";

// Tools and their policies.
export {
  definePromptTool,
  ToolFailure,
  type AnyPromptTool,
  type PromptToolContext,
  type PromptToolOptions,
} from "./tools/define-prompt-tool.ts";
export type { PolicyCall, ToolPolicyVerdict, ToolPolicy } from "./tools/tool-policy.ts";
export {
  customPolicy,
  readBeforeWrite,
  type ReadBeforeWriteOptions,
  requireTools,
} from "./guardrails/policies.ts";

// Feedback and completion.
export {
  deadlineFeedback,
  staticFeedback,
  type FeedbackContext,
  type FeedbackProvider,
  type FeedbackTrigger,
} from "./guardrails/feedback.ts";
export {
  allOf,
  anyOf,
  filesExist,
  type CompletionChecker,
  type CompletionContext,
  type CompletionVerdict,
} from "./guardrails/completion.ts";

// Sessions.
export {
  eventLog,
  PromptSession,
  type SessionBackend,
  type SessionChange,
  type SessionCheckpoint,
  type SessionOptions,
} from "./session/session.ts";
export {
  type AnySlice,
  defineSlice,
  on,
  type Reducer,
  type Slice,
  type SliceOptions,
} from "./session/slice.ts";
export {
  defineEvent,
  PromptExecuted,
  PromptRendered,
  RenderedTools,
  ToolInvoked,
  type EventDefinition,
  type PromptSessionEvent,
} from "./session/session-event.ts";
export { openSession } from "./session/file-backend.ts";

// Resources.
export {
  defineResource,
  overrideResource,
  type Resource,
  type ResourceLifetime,
  type ResourceOverride,
  type Resources,
} from "./resources/define-resource.ts";

// Limits.
export { Budget, type BudgetExcess, type BudgetLimits, type BudgetOptions } from "./limits/budget.ts";
export type { ModelPrice, ModelUsage, Prices } from "codexkit/options";
export { Deadline } from "./limits/deadline.ts";

// Workspaces.
export { openWorkspace, type WorkspaceOptions } from "./workspace/open-workspace.ts";
export { Workspace, type WorkspaceTransaction } from "./workspace/workspace.ts";
export type { Mount, MountReport } from "./workspace/mount.ts";
export type { RestoreOptions, WorkspaceSnapshot } from "./workspace/snapshot-store.ts";
export type { RestoreReport } from "./workspace/restore-paths.ts";
export { WORKSPACE_LIMITS } from "./workspace/limits.ts";

// Evaluation.
export { evaluate } from "./evaluate/evaluate.ts";
export { Evaluation, type EvaluationResult } from "./evaluate/evaluation.ts";
export type {
  EvaluateOptions,
  EvaluationEvent,
  PromptApprovalPolicy,
  PromptThreadOptions,
} from "./evaluate/options.ts";

// Transcripts and debug bundles.
export type { TranscriptEntry, TranscriptEntryType } from "./transcript/transcript.ts";
export { openBundle, type DebugBundle } from "./bundle/open-bundle.ts";
export type { BundleRecord } from "./bundle/write-bundle.ts";

// Workers and evals.
export { runAgent, type AgentOptions, type AgentReport, type AgentRequest } from "./loop/run-agent.ts";
export {
  evalPrompt,
  type EvalCase,
  type EvalCaseResult,
  type EvalOptions,
  type EvalReport,
  type Score,
  type Scorer,
} from "./evals/eval-prompt.ts";

// Errors.
export { PromptError, type PromptErrorCode } from "./errors.ts";
export {
  type EvaluationErrorDetails,
  type EvaluationPhase,
  type PartialEvaluation,
  PromptEvaluationError,
} from "./evaluate/evaluation-error.ts";
