import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { readCommandDecision, withinAvailable } from "./command-decision.ts";
import type { CommandDecision } from "./decisions.ts";
import { because, openApproval } from "./open-approval.ts";
import type { OpenRequest, ReadContext } from "./open-request.ts";

/** Codex wants to run a command where the sandbox does not let it. */
export interface CommandApproval {
  readonly kind: "command";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  /** `writeStdin` is input for a command that runs already; `command` then shows what is typed. */
  readonly action: v2.CommandExecutionApprovalKind;
  /** The whole command line, shell included. */
  readonly command: string | undefined;
  readonly cwd: string | undefined;
  /** Why the model wants it, in its own words. */
  readonly reason: string | undefined;
  /** What the command does, as far as Codex understands it. */
  readonly actions: readonly v2.CommandAction[];
  /** The host that the command wants to reach, when that is what needs the approval. */
  readonly network: v2.NetworkApprovalContext | undefined;
  /** Rights that the command gets if it is accepted, inside the sandbox. */
  readonly additionalPermissions: v2.AdditionalPermissionProfile | undefined;
  /** The prefix that the server offers to let through from now on: `decisions.acceptWithPrefix(proposedPrefix)`. */
  readonly proposedPrefix: readonly string[] | undefined;
  /** The rules that the server offers to keep for hosts. */
  readonly proposedNetworkRules: readonly v2.NetworkPolicyAmendment[];
  /** What may be decided, `decline` aside, which always may. Undefined: everything. */
  readonly availableDecisions: readonly CommandDecision[] | undefined;
  /** The command's item, if it was seen to start. */
  readonly item: v2.ThreadItem | undefined;
  /** The request as it came. */
  readonly params: v2.CommandExecutionRequestApprovalParams;
}

export function openCommandApproval(
  params: v2.CommandExecutionRequestApprovalParams,
  { requestId, itemFor }: ReadContext,
): OpenRequest {
  const { threadId, turnId, itemId } = params;
  const approval: CommandApproval = {
    kind: "command",
    requestId,
    threadId,
    turnId,
    itemId,
    action: params.kind ?? "command",
    command: params.command ?? undefined,
    cwd: params.cwd ?? undefined,
    reason: params.reason ?? undefined,
    actions: params.commandActions ?? [],
    network: params.networkApprovalContext ?? undefined,
    additionalPermissions: params.additionalPermissions ?? undefined,
    proposedPrefix: params.proposedExecpolicyAmendment ?? undefined,
    proposedNetworkRules: params.proposedNetworkPolicyAmendments ?? [],
    availableDecisions: params.availableDecisions ?? undefined,
    item: itemFor(threadId, itemId),
    params,
  };
  return openApproval({
    approval,
    slot: "commandApproval",
    read: (wanted, reason) => {
      const asked = readCommandDecision(wanted);
      const decision = withinAvailable(asked, approval.availableDecisions);
      const cut = decision === asked ? undefined : `${nameOf(asked)} is not offered for this command`;
      const why = [reason, cut].filter((part) => part !== undefined).join("; ");
      return { response: { decision }, decision, ...because(why) };
    },
    refuse: (reason) => ({ response: { decision: "decline" }, decision: "decline", reason }),
  });
}

function nameOf(decision: CommandDecision): string {
  return typeof decision === "string" ? decision : Object.keys(decision).join();
}
