import type { Policy } from "@codexkit/approvals";
import {
  type AnyApproval,
  type AnyDecision,
  type ApprovalAnswer,
  type HandlerContext,
  policyHandlers,
  type ServerRequestHandlers,
} from "codexkit";
import type { AskDesk } from "../session/ask-desk.ts";
import { approvalAsk } from "./approval-ask.ts";

/** What a program may answer by itself. What it has no handler for, and passes on, is asked of a person. */
export type CodexHandlers = Omit<ServerRequestHandlers, "toolCall">;

export interface ApprovalSettings {
  /** Decides what needs no person; without one, everything that Codex asks for does. */
  readonly policy?: Policy | (() => Policy) | undefined;
  readonly handlers?: CodexHandlers | undefined;
  /** How long a person may take. */
  readonly parkedTurnMs: number;
}

/** The handlers of a thread: the program's own, then the policy, then a person, who answers in a later call. */
export function approvalHandlers(
  { policy, handlers, parkedTurnMs }: ApprovalSettings,
  desk: AskDesk,
  cwd: string | undefined,
): ServerRequestHandlers {
  const askPerson = async (
    approval: AnyApproval,
    context: HandlerContext,
    signal: AbortSignal,
  ): Promise<{ readonly approved: boolean; readonly reason: string | undefined }> =>
    desk.approve(approvalAsk(approval, context), signal);

  const byPolicy = async (
    approval: AnyApproval,
    context: HandlerContext,
    judge: Policy | (() => Policy),
  ): Promise<ApprovalAnswer<AnyDecision>> => {
    const { approve } = policyHandlers(judge, {
      ...(cwd !== undefined && { cwd }),
      timeoutMs: parkedTurnMs,
      ask: async (_question, signal) => {
        const { approved, reason } = await askPerson(approval, context, signal);
        return { decision: approved ? "allow" : "deny", reason, by: "person" };
      },
    });
    return approve?.(approval, context) ?? "pass";
  };

  return {
    ...handlers,
    approve: async (approval, context) => {
      const own = (await handlers?.approve?.(approval, context)) ?? "pass";
      if (own !== "pass") return own;
      if (policy !== undefined) return byPolicy(approval, context, policy);
      const { approved, reason } = await askPerson(approval, context, context.signal);
      return { decision: approved ? "accept" : "decline", ...(reason !== undefined && { reason }) };
    },
  };
}
