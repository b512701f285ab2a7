import type { PathFacts } from "../files/workspace.ts";
import { evaluatePolicy } from "../policy/evaluate-policy.ts";
import type { PolicyEvaluation } from "../policy/evaluation.ts";
import type { Policy } from "../policy/policy.ts";
import type { DecisionScope, Rule } from "../policy/rule.ts";
import type { ApprovalRequest } from "../request/request.ts";
import type { Answer, Outcome } from "./outcome.ts";
import { firstAnswer } from "./first-answer.ts";
import { suggestRules } from "./suggest-rules.ts";

/** A question to a person, or to a program that answers for one. */
export interface Question {
  readonly request: ApprovalRequest;
  readonly evaluation: PolicyEvaluation;
  /** The rules that an answer with `scope: "always"` would add. */
  readonly suggestions: readonly Rule[];
}

/** Answers a question. Return undefined to leave it to other handlers. The signal aborts when the question is settled. */
export type AskHandler = (
  question: Question,
  signal: AbortSignal,
) => Promise<Answer | undefined> | Answer | undefined;

export type DecidedBy = "policy" | "person" | "timeout" | "withdrawn" | "no-handler";

/** One audit record per request, including those that the policy decided alone. */
export interface AuditRecord {
  readonly request: ApprovalRequest;
  /** The policy's evaluation. */
  readonly evaluation: PolicyEvaluation;
  readonly decision: "allow" | "deny";
  readonly scope: DecisionScope;
  readonly reason: string;
  readonly decidedBy: DecidedBy;
  readonly by?: string | undefined;
}

export interface ApproverOptions {
  /** A function is called for each request, so that the policy can change during a thread. */
  readonly policy: Policy | (() => Policy);
  /** All are called at once, and the first answer counts. Without a handler, requests that need an answer are denied. */
  readonly ask?: AskHandler | readonly AskHandler[] | undefined;
  /** How long to wait for an answer. Then the request is denied. */
  readonly timeoutMs?: number | undefined;
  /** Resolves links: pass `resolvePaths`. Without it, paths are judged by their text. */
  readonly resolve?: ((policy: Policy, request: ApprovalRequest) => Promise<PathFacts>) | undefined;
  readonly onDecision?: ((record: AuditRecord) => void) | undefined;
}

export interface Approval {
  readonly outcome: Outcome;
  readonly record: AuditRecord;
  /** Rules to store after an "always allow" answer. */
  readonly remember: readonly Rule[];
}

/** Ten minutes: long enough for a person to come back, short enough that no fleet hangs overnight. */
const DEFAULT_TIMEOUT_MS = 600_000;

/**
 * Answers approval requests: by the policy if it decides, otherwise by the first answer of a handler. Never rejects and never
 * hangs; if anything fails, the request is denied.
 */
export function createApprover(
  options: ApproverOptions,
): (request: ApprovalRequest, signal?: AbortSignal) => Promise<Approval> {
  const handlers = typeof options.ask === "function" ? [options.ask] : (options.ask ?? []);
  return async (request, signal) => {
    const policy = typeof options.policy === "function" ? options.policy() : options.policy;
    const evaluation = evaluatePolicy(policy, request, await factsFor(policy, request, options));
    const settle = (
      outcome: Outcome,
      decidedBy: DecidedBy,
      { by, remember = [] }: { by?: string | undefined; remember?: readonly Rule[] } = {},
    ): Approval => {
      const record: AuditRecord = {
        request,
        evaluation,
        decision: outcome.decision,
        scope: outcome.decision === "allow" ? outcome.scope : "call",
        reason: outcome.decision === "deny" ? outcome.reason : evaluation.reason,
        decidedBy,
        ...(by === undefined ? {} : { by }),
      };
      options.onDecision?.(record);
      return { outcome, record, remember };
    };
    if (evaluation.decision !== "ask") return settle(policyOutcome(policy, evaluation), "policy");
    const suggestions = suggestRules(request, evaluation);
    const question: Question = { request, evaluation, suggestions };
    const result = await firstAnswer(
      handlers.map((handler) => async (inner: AbortSignal) => handler(question, inner)),
      options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      signal,
    );
    if (result.kind !== "answer")
      return settle({ decision: "deny", cancel: false, reason: NO_ANSWER[result.kind] }, result.kind);
    const { answer } = result;
    const remember = answer.decision === "allow" && answer.scope === "always" ? suggestions : [];
    return settle(answerOutcome(answer, evaluation, remember), "person", { by: answer.by, remember });
  };
}

/** The outcome when the policy decides by itself. */
function policyOutcome(policy: Policy, evaluation: PolicyEvaluation): Outcome {
  const { decision, scope, reason, grant, matched: rule } = evaluation;
  if (decision === "allow") return { decision, scope, grant: grant?.allowed, rule };
  return { decision: "deny", cancel: policy.onDeny === "cancel", reason, rule };
}

const NO_ANSWER = {
  timeout: "no answer arrived in time",
  withdrawn: "the question was withdrawn",
  "no-handler": "no handler answered the question",
} as const;

function answerOutcome(answer: Answer, evaluation: PolicyEvaluation, remember: readonly Rule[]): Outcome {
  const { decision, scope = "call", cancel = false, reason = `refused: ${evaluation.reason}` } = answer;
  if (decision !== "allow") return { decision: "deny", cancel, reason };
  const rule = remember.length === 1 ? remember[0] : undefined;
  return { decision, scope, grant: evaluation.grant?.ifAccepted, rule };
}

/** After a resolver that fails, no path can be followed. */
async function factsFor(
  policy: Policy,
  request: ApprovalRequest,
  { resolve }: ApproverOptions,
): Promise<PathFacts | undefined> {
  try {
    return await resolve?.(policy, request);
  } catch {
    return { real: {} };
  }
}
