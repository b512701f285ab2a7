import type { AnyDecision, ApprovalAnswer, HandlerContext, InputPart, Thread } from "codexkit";

/** Input that tells the model why a request was declined: Codex's protocol has no field for the reason. */
export function declineInput(reason: string): InputPart {
  return { text: `I declined that: ${reason}` };
}

/** Sends the model the reason of a declining answer. Not for requests of subagents, which run in other threads. */
export async function explainDecline(
  answer: ApprovalAnswer<AnyDecision>,
  { threadId, signal }: Pick<HandlerContext, "threadId" | "signal">,
  thread: Pick<Thread, "id" | "steer"> | undefined,
): Promise<void> {
  if (thread === undefined || thread.id !== threadId) return;
  if (typeof answer !== "object" || !("decision" in answer)) return;
  const { decision, reason = "" } = answer;
  if (decision !== "decline" || reason === "") return;
  // Before the answer, so that the model reads both in its next response. The turn may have ended meanwhile.
  await thread.steer([declineInput(reason)], { signal }).catch(() => {});
}
