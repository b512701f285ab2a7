import { type Approval, type DaemonClient, DaemonClientError } from "@codexkit/daemon/client";
import type { SentAnswer } from "./answer-draft.ts";

/** What became of an answer that was sent. */
export type SubmitResult =
  /** The daemon has it. `messageProblem` is set if the agent did not get the sentence that goes with it. */
  | { readonly type: "answered"; readonly approval: Approval; readonly messageProblem: string | null }
  /** Another answer came first, or the request is over. */
  | { readonly type: "lost"; readonly detail: string }
  /** It can be sent again. */
  | { readonly type: "failed"; readonly detail: string };

/** How long the daemon may take to add a message to the running turn before it counts as sent. */
const STEER_WAIT_MS = 5_000;

type AnswerClient = Pick<DaemonClient, "answer" | "send">;

/** Sends an answer, then the message that goes with it. Sending the same again is safe: neither is carried out twice. */
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

/** Adds the message to the running turn. If there is none any more, it starts the next one. */
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
  // What a browser says differs and helps no person.
  return error instanceof TypeError ? "The daemon can't be reached." : String(error);
}
