import { CodexError } from "codexkit";
import type { Call } from "../model/read-call.ts";
import { TurnParts } from "../stream/turn-parts.ts";
import { compareStored } from "../transcript/check-stamps.ts";
import { addInput } from "./add-input.ts";
import { answersOf, giveAnswers } from "./answers.ts";
import { AskDesk } from "./ask-desk.ts";
import type { Step } from "./begin-step.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { isRefused } from "./thread-errors.ts";
import { partsOptions, turnSettings } from "./thread-options.ts";
import { TurnRun } from "./turn-run.ts";

/**
 * Goes on with a turn that another process started on the same server, and that waits for what this call brings: the server
 * repeats what it waits for to whoever resumes the thread. Undefined where no such turn is.
 */
export async function adoptTurn(sessions: Sessions, threadId: string, call: Call): Promise<Step | undefined> {
  const { turnId } = call.prompt.thread ?? {};
  // What this process started and no longer has is over.
  if (turnId === undefined || sessions.find(threadId)) return undefined;
  // A turn that has seen other messages must not go on for these.
  if (call.options.threadId === undefined && isChanged(call, threadId, turnId)) return undefined;
  const desk = new AskDesk();
  desk.serve(call);
  const attendance = desk.attend();
  try {
    const session = await sessions.resume(threadId, call, desk);
    // Another call of this process was faster: the turn is that one's.
    if (session.desk !== desk) return undefined;
    const run = await attach(session, turnId, call);
    if (run === undefined || !(await addInput(session, call))) {
      sessions.drop(session);
      return undefined;
    }
    giveAnswers(desk, answersOf(call.prompt));
    void run.ended.then(() => attendance[Symbol.dispose]());
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
  const { thread, desk } = session;
  const turn = thread.attach(turnId);
  try {
    await turn.id;
  } catch (error) {
    if (error instanceof CodexError && error.code === "turn_not_active") return undefined;
    throw error;
  }
  const { knownCalls, format } = call;
  const { readAnswer } = format;
  const run = new TurnRun({
    turn,
    turnId,
    desk,
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
