import type { AskHandler, AuditRecord, createApprover, Policy, Rule } from "@codexkit/approvals";
import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { ServerRequestHandlers } from "./handlers.ts";
import { toApprovalRequest } from "./to-approval-request.ts";
import { toDecision } from "./to-decision.ts";

export interface PolicyHandlersOptions {
  /** Called when the policy's decision is "ask". All run at once and the first answer counts. Default: "ask" denies. */
  readonly ask?: AskHandler | readonly AskHandler[];
  /** Timeout of the answers from `ask`, after which the request is denied. Default: ten minutes. */
  readonly timeoutMs?: number;
  /** The thread's folder, against which relative paths of changes are resolved. */
  readonly cwd?: string;
  /** Called with every decision, including those made without asking. */
  readonly onDecision?: (record: AuditRecord) => void;
  /** Called with the rules that "always allow" created, for the caller to store: see `remember`. */
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
 * Creates handlers that answer approvals by a policy, and ask users only where it says so. A function is called for
 * each request, so that the policy can change during a thread.
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
  // Loaded on first use: a program without a policy should not load a shell parser.
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
