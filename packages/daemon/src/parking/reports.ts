import type { InboxAnswer, InboxRequest } from "../api/approval.ts";
import type { AnsweredRequest } from "./choose-strategy.ts";
import {
  answersOutput,
  type CallOutput,
  describeRequest,
  mcpOutput,
  REFUSED,
  refusedPermissionsOutput,
  unknownOutcome,
} from "./outputs.ts";
import type { ModelCall } from "./rollout-lines.ts";

/** Returns Codex's output for an answer that runs nothing. Undefined if an action must be performed first. */
export function refusal(
  request: InboxRequest,
  answer: InboxAnswer | undefined,
  isAccepted: boolean,
): CallOutput | undefined {
  if (request.kind === "userInput") return answersOutput(answer);
  if (isAccepted) return undefined;
  switch (request.kind) {
    case "command":
      return REFUSED.command;
    case "fileChange":
      return REFUSED.fileChange;
    case "permissions":
      return refusedPermissionsOutput();
    case "mcpTool":
      return mcpOutput([{ type: "text", text: "user rejected MCP tool call" }], 0);
    case "elicitation":
      return undefined;
  }
}

/** Describes a request that could not be continued to the model. */
export function reportFor({ row, request, answer, isAccepted }: AnsweredRequest): string {
  const what = describeRequest(request);
  if (row.progress.action === "begun" || row.progress.wasSubmitted === true)
    return unknownOutcome(`This call (${what})`);
  const end = `The process that waited for the answer has ended, so this call can't continue. Its work until then may have had effects.`;
  if (request.kind === "elicitation") {
    const content = answer?.type === "elicitation" ? answer.content : undefined;
    const given = content === undefined ? "" : ` with ${JSON.stringify(content)}`;
    const action = answer?.type === "elicitation" ? answer.action : "decline";
    return `A person was asked for ${what}. The answer was: ${action}${given}. ${end} The tool has not received the answer, and may have done a part of its work. If you call it again and it asks for the same, it gets this answer.`;
  }
  if (request.kind === "command" && request.action === "writeStdin") {
    return `A person ${isAccepted ? "accepted" : "declined"} ${what}. The process of the terminal has ended, so the input was not sent. Start the command again if it is still needed.`;
  }
  return `A person ${isAccepted ? "accepted" : "declined"} ${what}. ${end} It was not carried out. Make the call again if it is still needed.`;
}

/** Describes a call without a request, which was open at the same time, to the model. */
export function siblingReport({ name }: ModelCall, note?: string): string {
  return note === undefined
    ? unknownOutcome(`This call of ${name}`)
    : `This call of ${name} was not completed: ${note}`;
}

/** Describes requests of its agents to the model. */
export function agentReport(requests: readonly AnsweredRequest[]): string {
  const answers = requests.map(({ row, request, isAccepted }) => {
    const decision = isAccepted ? "accepted" : "declined";
    return `The agent ${row.thread_id} asked for ${describeRequest(request)}, which a person ${decision}.`;
  });
  return `${answers.join(" ")} The process ended before the answer came, so that the agent was interrupted and nothing of this was carried out. Send the agent a message if it should go on: if it asks for the same again, it gets this answer.`;
}
