import type { Answer, AuditRecord, Policy, Question, Rule } from "@codexkit/approvals";
import type { AnyApproval, ServerRequestHandlers } from "codexkit";

/** Asks the user about an approval. Undefined without a terminal. */
export type AskUser = (approval: AnyApproval, question: Question, signal: AbortSignal) => Promise<Answer>;

interface ApprovalOptions {
  readonly loadPolicy: () => Promise<Policy>;
  readonly cwd: string;
  readonly ask: AskUser | undefined;
  readonly onDecision: (record: AuditRecord) => void;
}

/** The user may be away for a day. The turn waits. */
const ANSWER_TIMEOUT_MS = 24 * 3_600_000;

/**
 * Answers approvals by a policy, and asks the user where the policy says so. Rules that the user chooses to
 * always allow are added to the policy.
 */
export function createApprovalHandlers({
  loadPolicy,
  cwd,
  ask,
  onDecision,
}: ApprovalOptions): Required<Pick<ServerRequestHandlers, "approve">> {
  let loading: Promise<{ policy: Policy }> | undefined;
  return {
    approve: async (approval, context) => {
      loading ??= loadPolicy().then((policy) => ({ policy }));
      const [{ policyHandlers }, { remember }, state] = await Promise.all([
        import("codexkit"),
        import("@codexkit/approvals"),
        loading,
      ]);
      const handlers = policyHandlers(() => state.policy, {
        cwd,
        timeoutMs: ANSWER_TIMEOUT_MS,
        onDecision,
        onRemember: (rules: readonly Rule[]) => {
          state.policy = remember(state.policy, rules);
        },
        ...(ask ? { ask: (question, signal) => ask(approval, question, signal) } : {}),
      });
      return handlers.approve(approval, context);
    },
  };
}
