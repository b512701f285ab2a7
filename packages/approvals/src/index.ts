// A request of Codex in, a decision with its reason out. Knows no transports.

// A policy: made, stored, extended.
export { definePolicy } from "./policy/define-policy.ts";
export { parsePolicy, parseRule } from "./policy/parse-policy.ts";
export { remember } from "./policy/remember.ts";
export type { NetworkSettings, Policy, PolicyInput, WorkspaceSettings } from "./policy/policy.ts";
export type { PresetName } from "./policy/presets.ts";
export type { Lasting, Rule, RuleInput, RuleSubject } from "./policy/rule.ts";
export { describeRule } from "./policy/rule.ts";
export type { EffectKind } from "./programs/effect.ts";
export { PolicyError, type PolicyErrorCode } from "./errors.ts";

// Judging: pure, total, deterministic.
export { evaluate } from "./policy/evaluate.ts";
export type { CommandVerdict, Evaluation, Grant, Verdict } from "./policy/evaluation.ts";
export type { Decision } from "./finding.ts";
export { explain, formatExplanation, type Explanation, type ExplainOptions } from "./policy/explain.ts";
export { LIMITS } from "./limits.ts";

// Paths: which ones matter, and where they really lead (the one step with I/O).
export { pathsOf } from "./policy/paths-of.ts";
export { resolvePaths } from "./files/resolve-paths.ts";
export type { PathFacts } from "./files/places.ts";

// Requests: by hand, or read from the wire.
export { readRequest, type WireRequest } from "./request/read-request.ts";
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

// Answers in the exact shape of the wire.
export { decide, type Decided } from "./decisions/decide.ts";
export { respond } from "./decisions/respond.ts";
export type { CommandDecision } from "./decisions/command-decision.ts";
export type { Outcome, WireResponse } from "./decisions/outcome.ts";

// Asking people: first answer wins, silence is a no.
export type { Answer } from "./ask/answer.ts";
export {
  createApprover,
  type Approval,
  type ApproverOptions,
  type AskHandler,
  type AuditRecord,
  type DecidedBy,
  type Question,
} from "./ask/approver.ts";
export { suggestRules } from "./ask/suggest-rules.ts";
