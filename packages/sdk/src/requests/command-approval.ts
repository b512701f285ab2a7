import { unquote } from "@codexkit/approvals/shell";
import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { parseCommandDecision, limitToAvailable } from "./command-decision.ts";
import type { CommandDecision } from "./decisions.ts";
import { withReason, createApproval } from "./create-approval.ts";
import type { OpenRequest, ParseContext } from "./open-request.ts";

/** Codex asks to run a command that the sandbox does not allow. */
export interface CommandApproval {
  readonly kind: "command";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  /** `writeStdin` is input for a running command. */
  readonly action: v2.CommandExecutionApprovalKind;
  /** The whole command line, including the shell. For input, how Codex shows it: `write_stdin --session-id 4 'yes'`. */
  readonly command: string | undefined;
  /** The input for a running command. Undefined for other commands. */
  readonly input: string | undefined;
  readonly cwd: string | undefined;
  /** The model's justification. */
  readonly reason: string | undefined;
  /** What the command does, as far as Codex knows. */
  readonly actions: readonly v2.CommandAction[];
  /** The host that the command wants to reach, if the approval is about network access. */
  readonly network: v2.NetworkApprovalContext | undefined;
  /** Permissions that the command gets inside the sandbox if it is accepted. */
  readonly additionalPermissions: v2.AdditionalPermissionProfile | undefined;
  /** The command prefix that the server offers to allow from now on: `decisions.acceptWithPrefix(proposedPrefix)`. */
  readonly proposedPrefix: readonly string[] | undefined;
  /** Host rules that the server offers to remember. */
  readonly proposedNetworkRules: readonly v2.NetworkPolicyAmendment[];
  /** The decisions that the server offers. `decline` is always possible. Undefined: all of them. */
  readonly availableDecisions: readonly CommandDecision[] | undefined;
  /** The command's item, if its start was received. */
  readonly item: v2.ThreadItem | undefined;
  /** The request as received. */
  readonly params: v2.CommandExecutionRequestApprovalParams;
}

export function parseCommandApproval(
  params: v2.CommandExecutionRequestApprovalParams,
  { requestId, itemFor }: ParseContext,
): OpenRequest {
  const { threadId, turnId, itemId } = params;
  const action = params.kind ?? "command";
  const approval: CommandApproval = {
    kind: "command",
    requestId,
    threadId,
    turnId,
    itemId,
    action,
    command: params.command ?? undefined,
    input: action === "writeStdin" ? parseInput(params.command ?? "") : undefined,
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
  return createApproval({
    approval,
    handler: "commandApproval",
    parse: (wanted, reason) => {
      const requested = parseCommandDecision(wanted);
      const decision = limitToAvailable(requested, approval.availableDecisions);
      const limited =
        decision === requested ? undefined : `${nameOf(requested)} is not offered for this command`;
      const reasons = [reason, limited].filter((part) => part !== undefined).join("; ");
      return { response: { decision }, decision, ...withReason(reasons) };
    },
    refuse: (reason) => ({ response: { decision: "decline" }, decision: "decline", reason }),
  });
}

const INPUT = /^write_stdin --session-id \d+ (?=\S)/;

function parseInput(command: string): string | undefined {
  const [start] = INPUT.exec(command) ?? [];
  return start === undefined ? undefined : unquote(command.slice(start.length));
}

function nameOf(decision: CommandDecision): string {
  return typeof decision === "string" ? decision : Object.keys(decision).join();
}
