import type { PathFacts } from "../files/workspace.ts";
import { evaluatePolicy } from "../policy/evaluate-policy.ts";
import { evaluation, type PolicyEvaluation, refusal } from "../policy/evaluation.ts";
import type { Policy } from "../policy/policy.ts";
import type { DecisionScope, Rule } from "../policy/rule.ts";
import type { ApprovalRequest, PermissionProfile } from "../request/request.ts";
import { suggestRules } from "./suggest-rules.ts";

/** The final decision about a request, by the policy or a person. */
export type Outcome =
  | {
      readonly decision: "allow";
      /** How long the permission should last. A transport may offer less, never more. */
      readonly scope: DecisionScope;
      readonly grant?: PermissionProfile | undefined;
      /** The rule that covers the request, for a transport that can remember it. */
      readonly rule?: Rule | undefined;
    }
  /** `cancel` also interrupts the turn. */
  | {
      readonly decision: "deny";
      readonly cancel: boolean;
      readonly reason: string;
      readonly rule?: Rule | undefined;
    };

export interface Answer {
  readonly decision: "allow" | "deny";
  /** For an allow: `always` also returns rules to store. Default: `call`. */
  readonly scope?: DecisionScope | undefined;
  readonly cancel?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
}

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
  readonly timeoutMs?: number | undefined;
  /** Resolves links: pass `resolvePaths`. Without it, paths are judged by their text. */
  readonly resolve?: ((policy: Policy, request: ApprovalRequest) => Promise<PathFacts>) | undefined;
  readonly onDecision?: ((record: AuditRecord) => void) | undefined;
}

export interface ApproverDecision {
  readonly outcome: Outcome;
  readonly record: AuditRecord;
  /** Rules to store after an "always allow" answer. */
  readonly remember: readonly Rule[];
}

/** Ten minutes: long enough for a person to come back, short enough that no fleet hangs overnight. */
const DEFAULT_TIMEOUT_MS = 600_000;
/** Beyond it, timers fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Answers approval requests with the decision of the policy or, if it asks, with the first answer of a handler. Never rejects and
 * never hangs; if anything fails, the request is denied.
 */
export function createApprover(
  options: ApproverOptions,
): (request: ApprovalRequest, signal?: AbortSignal) => Promise<ApproverDecision> {
  const handlers = typeof options.ask === "function" ? [options.ask] : (options.ask ?? []);
  return async (request, signal) => {
    const policy = readPolicy(options.policy);
    // If the resolver fails, no path counts as followed.
    const resolving = (async () => policy && options.resolve?.(policy, request))();
    const facts = await resolving.catch((): PathFacts => ({ real: {} }));
    const evaluated = policy ? evaluatePolicy(policy, request, facts) : UNREADABLE;
    const settle = (
      outcome: Outcome,
      who: Pick<AuditRecord, "decidedBy" | "by">,
      remember: readonly Rule[] = [],
    ): ApproverDecision => {
      const { decision } = outcome;
      const scope = decision === "allow" ? outcome.scope : "call";
      const reason = decision === "allow" ? evaluated.reason : outcome.reason;
      const record: AuditRecord = { request, evaluation: evaluated, decision, scope, reason, ...who };
      try {
        options.onDecision?.(record);
        return { outcome, record, remember };
      } catch {
        const unrecorded = "the decision could not be recorded";
        const denied = { ...record, decision: "deny", scope: "call", reason: unrecorded } as const;
        return {
          outcome: { decision: "deny", cancel: false, reason: unrecorded },
          record: denied,
          remember: [],
        };
      }
    };
    const grant = request.kind === "permissions" ? request.permissions : undefined;
    const { decision, reason, matched } = evaluated;
    if (decision === "allow")
      return settle({ decision, scope: evaluated.scope, grant, rule: matched }, { decidedBy: "policy" });
    if (decision === "deny")
      return settle(
        { decision, cancel: policy?.onDeny === "cancel", reason, rule: matched },
        { decidedBy: "policy" },
      );
    const question: Question = {
      request,
      evaluation: evaluated,
      suggestions: suggestRules(request, evaluated),
    };
    const answer = await firstAnswer(handlers, question, options.timeoutMs ?? DEFAULT_TIMEOUT_MS, signal);
    if (typeof answer === "string")
      return settle({ decision: "deny", cancel: false, reason: NO_ANSWER[answer] }, { decidedBy: answer });
    const remember = answer.decision === "allow" && answer.scope === "always" ? question.suggestions : [];
    const who = { decidedBy: "person", ...(answer.by === undefined ? {} : { by: answer.by }) } as const;
    if (answer.decision === "deny") {
      const { cancel = false, reason: why = `refused: ${reason}` } = answer;
      return settle({ decision: "deny", cancel, reason: why }, who);
    }
    const rule = remember.length === 1 ? remember[0] : undefined;
    return settle({ decision: "allow", scope: answer.scope ?? "call", grant, rule }, who, remember);
  };
}

function readPolicy(policy: ApproverOptions["policy"]): Policy | undefined {
  try {
    return typeof policy === "function" ? policy() : policy;
  } catch {
    return undefined;
  }
}

const UNREADABLE = evaluation(refusal("internal-error", "the policy could not be read"));

const NO_ANSWER = {
  timeout: "no answer arrived in time",
  withdrawn: "the question was withdrawn",
  "no-handler": "no handler answered the question",
} as const;

/**
 * Asks all handlers at once, takes the first answer and aborts the signals of the others. A handler that throws or has no answer
 * leaves the question to the others. Always ends: with the last handler, the timeout or the caller's signal.
 */
async function firstAnswer(
  handlers: readonly AskHandler[],
  question: Question,
  timeoutMs: number,
  outer?: AbortSignal,
): Promise<Answer | keyof typeof NO_ANSWER> {
  if (outer?.aborted === true) return "withdrawn";
  const settled = new AbortController();
  const ended = Promise.withResolvers<"timeout" | "withdrawn">();
  const timer = setTimeout(() => ended.resolve("timeout"), Math.min(timeoutMs, LONGEST_TIMEOUT_MS));
  outer?.addEventListener("abort", () => ended.resolve("withdrawn"), { signal: settled.signal });
  const answers = handlers.map(async (handler) => {
    const answer = await handler(question, settled.signal);
    // Handlers are user code: only an explicit allow or deny counts.
    if (answer?.decision === "allow" || answer?.decision === "deny") return answer;
    throw new Error("no answer");
  });
  try {
    return await Promise.race([Promise.any(answers).catch(() => "no-handler" as const), ended.promise]);
  } finally {
    clearTimeout(timer);
    settled.abort();
  }
}
