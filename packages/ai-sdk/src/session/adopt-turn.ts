import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "codexkit";
import type { Call } from "../call/read-call.ts";
import { TurnParts } from "../stream/turn-parts.ts";
import { compareStored } from "../transcript/check-stamps.ts";
import { addInput } from "./add-input.ts";
import { answersOf, submitAnswers } from "./answers.ts";
import { ClientRequestBroker } from "../requests/client-request-broker.ts";
import type { Step } from "./begin-step.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { isRefused } from "./thread-errors.ts";
import { partsOptions, turnSettings } from "./thread-options.ts";
import { TurnRun } from "./turn-run.ts";

/**
 * Continues a turn that another process started on the same server and that waits for this call's answers. The server repeats
 * the turn's requests to a client that resumes the thread. Returns undefined if there is no such turn.
 */
export async function adoptTurn(sessions: Sessions, threadId: string, call: Call): Promise<Step | undefined> {
  const { turnId } = call.prompt.thread ?? {};
  // If this process holds the thread but no longer the turn, the turn has ended.
  if (turnId === undefined || sessions.find(threadId)) return undefined;
  // A turn whose messages differ from the call's must not continue with them.
  if (call.options.threadId === undefined && isChanged(call, threadId, turnId)) return undefined;
  const broker = new ClientRequestBroker();
  broker.serve(call);
  using undo = new DisposableStack();
  const openBroker = undo.use(broker.openForTurn());
  try {
    const session = await sessions.resume(threadId, call, broker);
    // Another call of this process has already adopted the turn.
    if (session.broker !== broker) return undefined;
    undo.defer(() => sessions.drop(session));
    const run = await attach(session, turnId, call);
    if (run === undefined || !(await addInput(session, call))) return undefined;
    submitAnswers(broker, answersOf(call.prompt));
    undo.move();
    void run.ended.then(() => openBroker[Symbol.dispose]());
    return { session, run, answered: [], warnings: [] };
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

function isChanged(call: Call, threadId: string, turnId: string): boolean {
  return compareStored(call, { threadId, turnId }, undefined).comparison.type === "changed";
}

async function attach(session: Session, turnId: string, call: Call): Promise<TurnRun | undefined> {
  const { thread, broker } = session;
  const turn = thread.attach(turnId);
  try {
    await turn.id;
  } catch (error) {
    if (error instanceof CodexError && error.code === "turn_not_active") return undefined;
    throw error;
  }
  const { knownCalls } = call.prompt;
  const { readAnswer } = call.format;
  const run = new TurnRun({
    turn,
    turnId,
    broker,
    parts: new TurnParts({ threadId: thread.id, turnId, ...partsOptions(call), readAnswer, knownCalls }),
    modelId: thread.settings.model,
    begunWith: turnSettings(call),
  });
  session.transcript.continueWith(call.prompt.digests.entries);
  const leave = await session.enter(call.signal);
  void run.ended.then(leave);
  session.run = run;
  return run;
}
