import type { Policy } from "@codexkit/approvals";
import {
  type AnyApproval,
  type AnyDecision,
  type ApprovalAnswer,
  type HandlerContext,
  policyHandlers,
  type ServerRequestHandlers,
} from "codexkit";
import type { ClientRequestBroker } from "../requests/client-request-broker.ts";
import type { UserDecision } from "../requests/client-request.ts";
import { toApprovalRequest } from "./approval-request.ts";
import { explainDecline } from "./explain-decline.ts";
import type { ApprovalSettings, CodexHandlers } from "../options/approval-settings.ts";

type Approve = NonNullable<ServerRequestHandlers["approve"]>;

/** Handlers that each answer one kind of approval. */
const SPECIFIC = new Set<PropertyKey>([
  "commandApproval",
  "fileChangeApproval",
  "permissionsApproval",
  "mcpToolApproval",
  "execCommandApproval",
  "applyPatchApproval",
] satisfies (keyof CodexHandlers)[]);

/**
 * Creates a thread's handlers. A request goes to the program's handlers first, then to the policy, then to a person, who answers
 * in a later call. Each call can have its own handlers and policy.
 * @param first Settings of the call that starts the thread.
 */
export function approvalHandlers(
  first: ApprovalSettings,
  broker: ClientRequestBroker,
  cwd: string | undefined,
): ServerRequestHandlers {
  const current = (): ApprovalSettings => broker.approvals ?? first;
  // For a person's decision, the call that delivers it also adds the reason.
  const explained =
    (answer: Approve): Approve =>
    async (approval, context) => {
      const answered = await answer(approval, context);
      await explainDecline(answered, context, broker.thread);
      return answered;
    };

  const byPerson = async (
    approval: AnyApproval,
    context: HandlerContext,
    signal: AbortSignal,
  ): Promise<UserDecision> => broker.approve(toApprovalRequest(approval, context), signal);

  const byHandler = explained(
    async (approval, context) => (await current().handlers?.approve?.(approval, context)) ?? "pass",
  );

  const byPolicy = async (
    approval: AnyApproval,
    context: HandlerContext,
    policy: Policy | (() => Policy),
  ): Promise<ApprovalAnswer<AnyDecision>> => {
    let isPersons = false;
    const { approve } = policyHandlers(policy, {
      ...(cwd !== undefined && { cwd }),
      timeoutMs: current().suspendTimeoutMs,
      ask: async (_question, signal) => {
        const { approved, reason } = await byPerson(approval, context, signal);
        isPersons = true;
        return { decision: approved ? "allow" : "deny", reason, by: "person" };
      },
    });
    const answered = await approve(approval, context);
    if (!isPersons) await explainDecline(answered, context, broker.thread);
    return answered;
  };

  const approve: Approve = async (approval, context) => {
    const answered = await byHandler(approval, context);
    if (answered !== "pass") return answered;
    const { policy } = current();
    if (policy !== undefined) return byPolicy(approval, context, policy);
    const { approved, reason } = await byPerson(approval, context, context.signal);
    return { decision: approved ? "accept" : "decline", ...(reason !== undefined && { reason }) };
  };
  // All other handlers are looked up on use, because they depend on the current call.
  return new Proxy<ServerRequestHandlers>(
    {},
    {
      get: (_, slot) => {
        if (slot === "approve") return approve;
        const handler = current().handlers?.[slot as keyof CodexHandlers];
        return handler !== undefined && SPECIFIC.has(slot) ? explained(handler as Approve) : handler;
      },
    },
  );
}
