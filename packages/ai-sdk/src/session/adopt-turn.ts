import type { CodexEvent, Thread } from "codexkit";
import type { Call } from "../model/read-call.ts";
import { isTurnEnd } from "../stream/is-turn-end.ts";
import { TurnParts } from "../stream/turn-parts.ts";
import { answersOf, giveAnswers } from "./answers.ts";
import { AskDesk } from "./ask-desk.ts";
import type { Step } from "./begin-step.ts";
import { isRefused, type Sessions } from "./sessions.ts";
import { TurnRun } from "./turn-run.ts";

/**
 * Goes on with a turn that another process started on the same server, and that waits for what this call brings: the server
 * repeats what it waits for to whoever resumes the thread. Undefined where no such turn is.
 */
export async function adoptTurn(sessions: Sessions, threadId: string, call: Call): Promise<Step | undefined> {
  const { turnId } = call.prompt.thread ?? {};
  // What this process started and no longer has is over.
  if (turnId === undefined || sessions.find(threadId)) return undefined;
  const desk = new AskDesk();
  desk.offer(new Set(call.tools.map(({ name }) => name)));
  giveAnswers(desk, answersOf(call.prompt));
  try {
    const session = await sessions.resume(threadId, call, desk);
    const events = session.thread.events();
    const { status } = await session.thread.read(call.callOptions);
    if (status.type !== "active") {
      sessions.drop(session);
      return undefined;
    }
    const { knownCalls, format } = call;
    const parts = new TurnParts({ threadId, turnId, readAnswer: format.readAnswer, knownCalls });
    const leave = await session.enter(call.signal);
    const source = {
      turnId,
      events: eventsOf(events, turnId, leave),
      interrupt: () => interrupt(session.thread, turnId),
    };
    session.newestTurn = turnId;
    session.run = new TurnRun(source, desk, parts);
    return { session, run: session.run, answered: [], warnings: [] };
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

async function* eventsOf(
  events: AsyncIterable<CodexEvent>,
  turnId: string,
  onEnd: () => void,
): AsyncGenerator<CodexEvent, void, undefined> {
  try {
    for await (const event of events) {
      if (!("turnId" in event) || event.turnId !== turnId) continue;
      yield event;
      if (isTurnEnd(event)) return;
    }
  } finally {
    onEnd();
  }
}

async function interrupt(thread: Thread, turnId: string): Promise<void> {
  await thread.request("turn/interrupt", { turnId });
}
