import type { ApprovalOffer, InboxAnswer, InboxRequest } from "../api/approval.ts";
import type { DeliveryStrategy, ParkedApproval } from "../inbox/parked-inbox.ts";
import { isShown } from "./is-shown.ts";
import { findCall } from "./open-work.ts";
import { readPatch } from "./perform.ts";
import { isScript, type ModelCall } from "./rollout-lines.ts";

/** A parked approval with its answer, and the open call that it belongs to. */
export interface AnsweredRequest {
  readonly row: ParkedApproval;
  readonly request: InboxRequest;
  /** Undefined if no answer came in time, which counts as a refusal. */
  readonly answer: InboxAnswer | undefined;
  readonly isAccepted: boolean;
  /** Whether the person wants the turn to stop. */
  readonly isCancelled: boolean;
  readonly call: ModelCall | undefined;
  /** The open call of a script that asked, or that waits for one, if the request has no call of its own. */
  readonly script: ModelCall | undefined;
}

export interface StrategyContext {
  /** The session's own thread. Others are those of agents. */
  readonly rootThreadId: string;
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
 * How each answer gets to the model. A rewind repeats the whole response, so that it is possible only if nothing of it has run,
 * and then all its requests are rewound.
 */
export function chooseStrategies(
  requests: readonly AnsweredRequest[],
  context: StrategyContext,
): readonly DeliveryStrategy[] {
  const wanted = requests.map((request) => strategyFor(request, context));
  if (!wanted.includes("rewind")) return wanted;
  const mayRewind = requests.every((request, index) => wanted[index] !== "report" && hasRunNothing(request));
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
  // The tool has begun: calling it again could repeat its work.
  if (request.kind === "elicitation") return "report";
  // Asked from inside a script of the model, which only Codex can run. One that is waited for had begun before.
  if (!call) return script?.name === "exec" ? "rewind" : "report";
  if (request.kind === "userInput") return "inject";
  if (!isAccepted) return "inject";
  // A grant is in force only if Codex itself was given it.
  if (request.kind === "permissions") return "rewind";
  if (row.progress.wasSubmitted === true) return "report";
  // Codex asks again for what it really is.
  if (!isShown(request, call, folder)) return "rewind";
  if (request.kind === "mcpTool") return "inject";
  if (isRemote) return "rewind";
  if (request.kind === "fileChange") return readPatch(call) === undefined ? "rewind" : "inject";
  // The process that waits for input, or for a connection, is gone.
  if (request.action !== "command" || request.network !== null) return "report";
  return request.additionalPermissions === null ? "inject" : "rewind";
}

function hasRunNothing({ row: { progress } }: AnsweredRequest): boolean {
  return progress.wasSubmitted !== true && progress.startedItems?.length === 0;
}
