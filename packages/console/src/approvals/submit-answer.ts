import { type Approval, type DaemonClient, DaemonClientError } from "@codexkit/daemon/client";
import type { SentAnswer } from "./answer-draft.ts";

/** The outcome of sending an answer. */
export type SubmitResult =
  /** The daemon has accepted the answer. `messageProblem` is set if its message did not reach the agent. */
  | { readonly type: "answered"; readonly approval: Approval; readonly messageProblem: string | null }
  /** Another answer arrived first, or the request has ended. */
  | { readonly type: "lost"; readonly detail: string }
  /** The answer can be sent again. */
  | { readonly type: "failed"; readonly detail: string };

/** How long to wait for the outcome of a steering message. Afterwards, it counts as sent. */
const STEER_WAIT_MS = 5_000;

type AnswerClient = Pick<DaemonClient, "answer" | "send">;

/** Sends an answer, and then its message. Can be retried safely, because neither is executed twice. */
export async function submitAnswer(
  client: AnswerClient,
  { id, sessionId, parkedAt }: Pick<Approval, "id" | "sessionId" | "parkedAt">,
  { answer, message }: SentAnswer,
): Promise<SubmitResult> {
  let approval: Approval;
  try {
    approval = await client.answer(id, answer);
  } catch (error) {
    return describeFailure(error);
  }
  if (message === null) return { type: "answered", approval, messageProblem: null };
  try {
    await sendMessage(client, sessionId, message, parkedAt !== null);
    return { type: "answered", approval, messageProblem: null };
  } catch (error) {
    return { type: "answered", approval, messageProblem: describeError(error) };
  }
}

/** Adds the message to the running turn. If the turn has ended, the message is queued and starts the next one. */
async function sendMessage(
  client: AnswerClient,
  sessionId: string,
  { text, key }: NonNullable<SentAnswer["message"]>,
  isParked: boolean,
): Promise<void> {
  if (!isParked) {
    const steered = await client.send(sessionId, text, {
      mode: "steer",
      idempotencyKey: key,
      wait: STEER_WAIT_MS,
    });
    if (steered.state !== "failed") return;
    if (steered.problem?.type !== "turn_not_running")
      throw new Error(steered.problem?.detail ?? "It failed.");
  }
  await client.send(sessionId, text, { mode: "queue", idempotencyKey: `${key}-queued` });
}

function describeFailure(error: unknown): SubmitResult {
  if (
    DaemonClientError.is(error) &&
    (error.code === "already_answered" || error.code === "approval_not_found")
  ) {
    return { type: "lost", detail: error.problem?.detail ?? error.message };
  }
  return { type: "failed", detail: describeError(error) };
}

function describeError(error: unknown): string {
  if (DaemonClientError.is(error)) return error.problem?.detail ?? error.message;
  // The messages of browsers differ, and don't help users.
  return error instanceof TypeError ? "The daemon can't be reached." : String(error);
}
