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
import { toApprovalRequest } from "./approval-request.ts";
import type { ApprovalSettings, CodexHandlers } from "../options/approval-settings.ts";

/**
 * The handlers of a thread: the program's own, then the policy, then a person, who answers in a later call. Each call may
 * have its own.
 * @param first Those of the call that starts the thread.
 */
export function approvalHandlers(
  first: ApprovalSettings,
  broker: ClientRequestBroker,
  cwd: string | undefined,
): ServerRequestHandlers {
  const current = (): ApprovalSettings => broker.approvals ?? first;
  const askPerson = async (
    approval: AnyApproval,
    context: HandlerContext,
    signal: AbortSignal,
  ): Promise<{ readonly approved: boolean; readonly reason: string | undefined }> =>
    broker.approve(toApprovalRequest(approval, context), signal);

  const byPolicy = async (
    approval: AnyApproval,
    context: HandlerContext,
    judge: Policy | (() => Policy),
  ): Promise<ApprovalAnswer<AnyDecision>> => {
    const { approve } = policyHandlers(judge, {
      ...(cwd !== undefined && { cwd }),
      timeoutMs: current().parkedTurnMs,
      ask: async (_question, signal) => {
        const { approved, reason } = await askPerson(approval, context, signal);
        return { decision: approved ? "allow" : "deny", reason, by: "person" };
      },
    });
    return approve?.(approval, context) ?? "pass";
  };

  const approve: ServerRequestHandlers["approve"] = async (approval, context) => {
    const { handlers, policy } = current();
    const own = (await handlers?.approve?.(approval, context)) ?? "pass";
    if (own !== "pass") return own;
    if (policy !== undefined) return byPolicy(approval, context, policy);
    const { approved, reason } = await askPerson(approval, context, context.signal);
    return { decision: approved ? "accept" : "decline", ...(reason !== undefined && { reason }) };
  };
  // Every other handler is looked up when needed: the set depends on the current call.
  return new Proxy<ServerRequestHandlers>(
    {},
    {
      get: (_, slot) => (slot === "approve" ? approve : current().handlers?.[slot as keyof CodexHandlers]),
    },
  );
}
