import type { AskHandler, AuditRecord, createApprover, Policy, Rule } from "@codexkit/approvals";
import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { ServerRequestHandlers } from "./handlers.ts";
import { toApprovalRequest } from "./to-approval-request.ts";
import { toDecision } from "./to-decision.ts";

export interface PolicyHandlersOptions {
  /** Asked where the policy says "ask": all at once, the first answer counts. Without any, "ask" means no. */
  readonly ask?: AskHandler | readonly AskHandler[];
  /** How long a question stays open before it counts as a no. Default ten minutes. */
  readonly timeoutMs?: number;
  /** The folder that relative paths of changes are resolved against: the thread's. */
  readonly cwd?: string;
  /** Hears every decision, also those that nobody was asked about. */
  readonly onDecision?: (record: AuditRecord) => void;
  /** Hears the rules that "always allow this" made, for the caller to store: see `remember`. */
  readonly onRemember?: (rules: readonly Rule[]) => void;
}

const POLICY_HANDLERS: OptionKeys<PolicyHandlersOptions> = {
  ask: true,
  timeoutMs: true,
  cwd: true,
  onDecision: true,
  onRemember: true,
};

type Approver = ReturnType<typeof createApprover>;

/**
 * Handlers that answer approvals by a policy, and ask people only where it says so. A function as policy is asked anew for
 * each request, so that it can change in the middle of a thread.
 *
 * @example
 * const policy = definePolicy({ preset: "developer", deny: ["git push"], workspace: { roots: [cwd] } });
 * await using codex = await Codex.launch({ handlers: policyHandlers(policy) });
 */
export function policyHandlers(
  policy: Policy | (() => Policy),
  options: PolicyHandlersOptions = {},
): Required<Pick<ServerRequestHandlers, "approve">> {
  rejectUnknownOptions("policyHandlers", options, POLICY_HANDLERS);
  const { ask, timeoutMs, cwd, onDecision, onRemember } = options;
  // Loaded with the first approval: a program without a policy need not wait for a shell parser at its start.
  const loadApprover = async (): Promise<Approver> => {
    const { createApprover, resolvePaths } = await import("@codexkit/approvals");
    return createApprover({ policy, ask, timeoutMs, onDecision, resolve: resolvePaths });
  };
  let loading: Promise<Approver> | undefined;
  return {
    approve: async (approval, { signal }) => {
      loading ??= loadApprover();
      const approver = await loading;
      const { outcome, record, remember } = await approver(toApprovalRequest(approval, cwd), signal);
      if (remember.length > 0) onRemember?.(remember);
      return { decision: toDecision(approval, outcome), reason: record.reason };
    },
  };
}
