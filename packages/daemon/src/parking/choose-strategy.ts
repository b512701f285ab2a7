import type { ApprovalOffer, InboxAnswer, InboxRequest } from "../api/approval.ts";
import type { DeliveryStrategy, ParkedApproval } from "../inbox/parked-inbox.ts";
import { isShown } from "./is-shown.ts";
import { findCall } from "./open-work.ts";
import { readPatch } from "./perform.ts";
import { isScript, type ModelCall } from "./rollout-lines.ts";

/** A parked approval with its answer and the open call that it belongs to. */
export interface AnsweredRequest {
  readonly row: ParkedApproval;
  readonly request: InboxRequest;
  /** Undefined if no answer arrived in time, which counts as a refusal. */
  readonly answer: InboxAnswer | undefined;
  readonly isAccepted: boolean;
  /** Whether the person wants the turn to stop. */
  readonly isCancelled: boolean;
  readonly call: ModelCall | undefined;
  /** If the request has no separate call: the open call of the script that sent it, or the call that waits for such a script. */
  readonly script: ModelCall | undefined;
}

export interface StrategyContext {
  /** The session's own thread. Other threads belong to agents. */
  readonly rootThreadId: string;
  /** Whether the model's response can be removed from the thread's file. */
  readonly mayRewind: boolean;
  /** Whether commands run in an environment that only Codex can reach. */
  readonly isRemote: boolean;
  /** The session's folder. */
  readonly folder: string;
}

export function toAnswered(row: ParkedApproval, calls: readonly ModelCall[]): AnsweredRequest {
  const request = JSON.parse(row.request) as InboxRequest;
  const answer = row.answer === null ? undefined : (JSON.parse(row.answer) as InboxAnswer);
  const offers = JSON.parse(row.offers) as ApprovalOffer[];
  const offer = answer?.type === "decision" ? offers.find(({ id }) => id === answer.offer) : undefined;
  const call = findCall(row, calls);
  return {
    row,
    request,
    answer,
    isAccepted: answer?.type === "decision" ? offer?.accepts === true : answer !== undefined,
    isCancelled: offer?.id === "cancel",
    call,
    script: call ? undefined : calls.find(isScript),
  };
}

/**
 * Chooses how each answer is delivered to the model. A rewind repeats the whole response, so it is possible only if nothing of the
 * response has run and the response can be removed. Then all its requests are rewound.
 */
export function chooseStrategies(
  requests: readonly AnsweredRequest[],
  context: StrategyContext,
): readonly DeliveryStrategy[] {
  const wanted = requests.map((request) => strategyFor(request, context));
  if (!wanted.includes("rewind")) return wanted;
  const mayRewind =
    context.mayRewind &&
    requests.every((request, index) => wanted[index] !== "report" && hasRunNothing(request));
  return wanted.map((strategy) => {
    if (mayRewind) return "rewind";
    return strategy === "rewind" ? "report" : strategy;
  });
}

function strategyFor(
  { row, request, isAccepted, call, script }: AnsweredRequest,
  { rootThreadId, isRemote, folder }: StrategyContext,
): DeliveryStrategy {
  if (row.thread_id !== rootThreadId) return "report";
  // The tool has already started. Calling it again could repeat its work.
  if (request.kind === "elicitation") return "report";
  // A running command waited for input or a connection, and is gone. Codex's refusal would say that it never ran.
  if (request.kind === "command" && (request.action !== "command" || request.network !== null))
    return "report";
  // The request came from a script of the model, which only Codex can run. If the open call waits for a script, that script started
  // earlier and can't be rewound.
  if (!call) return script?.name === "exec" ? "rewind" : "report";
  if (request.kind === "userInput") return "inject";
  if (!isAccepted) return "inject";
  // A grant only takes effect if Codex itself receives it.
  if (request.kind === "permissions") return "rewind";
  if (row.progress.wasSubmitted === true) return "report";
  // After a rewind, Codex asks again and shows the actual action.
  if (!isShown(request, call, folder)) return "rewind";
  if (request.kind === "mcpTool") return "inject";
  if (isRemote) return "rewind";
  if (request.kind === "fileChange") return readPatch(call) === undefined ? "rewind" : "inject";
  return request.additionalPermissions === null ? "inject" : "rewind";
}

function hasRunNothing({ row: { progress } }: AnsweredRequest): boolean {
  return progress.wasSubmitted !== true && progress.startedItems?.length === 0;
}
