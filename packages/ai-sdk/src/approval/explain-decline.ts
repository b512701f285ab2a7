import type { AnyDecision, ApprovalAnswer, HandlerContext, InputPart, Thread } from "codexkit";

/** Input that tells the model why a request was declined: Codex's protocol has no field for the reason. */
export function declineInput(reason: string): InputPart {
  return { text: `I declined that: ${reason}` };
}

/** Sends the model the reason for a decline. Skipped for subagents' requests, because they run in other threads. */
export async function explainDecline(
  answer: ApprovalAnswer<AnyDecision>,
  { threadId, signal }: Pick<HandlerContext, "threadId" | "signal">,
  thread: Pick<Thread, "id" | "steer"> | undefined,
): Promise<void> {
  if (thread === undefined || thread.id !== threadId) return;
  if (typeof answer !== "object" || !("decision" in answer)) return;
  const { decision, reason = "" } = answer;
  if (decision !== "decline" || reason === "") return;
  // Sent before the answer, so that the model's next request contains both. The turn may have ended in the meantime.
  await thread.steer([declineInput(reason)], { signal }).catch(() => {});
}
