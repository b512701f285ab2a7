// Evaluates typed approval requests against policies, and gives a reason for each decision. Independent of transports.
import "./require-node.ts";

// Policies: define, parse, extend and combine them.
export { definePolicy, parsePolicy, parseRule, remember } from "./policy/define-policy.ts";
export { combinePolicies, type CombinedPolicy, type PolicyLayers } from "./policy/combine-policies.ts";
export type { NetworkSettings, Policy, PolicyInput, WorkspaceSettings } from "./policy/policy.ts";
export { describeRule, type DecisionScope, type Rule, type RuleInput } from "./policy/rule.ts";
export type { Decision, EffectKind, PresetName } from "./policy/presets.ts";
export { PolicyError, type PolicyErrorCode } from "./errors.ts";

// Rules of other tools.
export { importClaudeSettings, type ImportClaudeOptions } from "./importers/import-claude-settings.ts";
export { importCodexRules } from "./importers/import-codex-rules.ts";
export type { ImportedRules, Untranslated } from "./importers/import-report.ts";

// Evaluation: pure and deterministic; never throws.
export { evaluatePolicy } from "./policy/evaluate-policy.ts";
export type { CommandVerdict, PolicyEvaluation, Verdict } from "./policy/evaluation.ts";
export { explain, formatExplanation, type Explanation, type ExplainOptions } from "./policy/explain.ts";
export { LIMITS } from "./limits.ts";

// Path resolution, the only step with I/O.
export { resolvePaths } from "./policy/resolve-paths.ts";
export type { PathFacts } from "./files/workspace.ts";

// Requests, as a transport parses them.
export type {
  ApprovalRequest,
  CommandRequest,
  ElicitationRequest,
  FileChange,
  FileChangeRequest,
  FileSystemEntry,
  FileSystemPermissions,
  McpToolRequest,
  NetworkRequest,
  NetworkTarget,
  PermissionProfile,
  PermissionsRequest,
  UnknownRequest,
} from "./request/request.ts";

// The script inside Codex's command lines.
export { unwrapShell, type Unwrapped } from "./shell/unwrap-shell.ts";
export type { Dialect } from "./shell/plain-script.ts";

// Asking people: the first answer wins; without an answer the request is denied.
export {
  createApprover,
  type Answer,
  type ApproverDecision,
  type ApproverOptions,
  type AskHandler,
  type AuditRecord,
  type DecidedBy,
  type Outcome,
  type Question,
} from "./ask/approver.ts";
export { suggestRules } from "./ask/suggest-rules.ts";
