import type { SharedV4Warning } from "@ai-sdk/provider";
import { isDeepStrictEqual } from "node:util";
import { CodexModelError } from "../errors.ts";
import type { Call } from "../call/read-call.ts";
import { addInput } from "./add-input.ts";
import { adoptTurn } from "./adopt-turn.ts";
import { answersOf, submitAnswers } from "./answers.ts";
import { changedWarning, openSession } from "./open-session.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import { startTurn } from "./start-turn.ts";
import { isGone, isLost } from "./thread-errors.ts";
import { turnSettings } from "./thread-options.ts";
import { inWorkspace } from "./in-workspace.ts";
import type { TurnRun } from "./turn-run.ts";

/** The part of a turn that one call streams. It starts at the start of the turn, or where the turn waited for this call. */
export interface Step {
  readonly session: Session;
  readonly run: TurnRun;
  /** The approval responses that this step starts with. */
  readonly answered: readonly { readonly approvalId: string; readonly approved: boolean }[];
  readonly warnings: readonly SharedV4Warning[];
}

/** Finds or starts the turn for a call. */
export async function beginStep(sessions: Sessions, call: Call): Promise<Step> {
  const { thread: origin, approvals, toolResults, input } = call.prompt;
  const suspended = origin && suspendedTurn(sessions, origin.threadId, origin.turnId);
  const hasAnswers = approvals.length > 0 || toolResults.length > 0;
  const isSame = suspended !== undefined && agreesWith(suspended.session, call);
  if (suspended && hasAnswers && isSame && !suspended.run.isLost && (await isBack(suspended.session, call))) {
    return continueTurn(suspended, call);
  }
  suspended?.session.abandon("The client continued without an answer.");
  if (suspended && !isSame) return startFresh(sessions, call, suspended.session);
  if (!hasAnswers || origin === undefined) return startStep(sessions, call);

  const adopted = await adoptTurn(sessions, origin.threadId, call);
  if (adopted) return adopted;
  if (toolResults.length > 0) return startFresh(sessions, call);
  // If the approval came too late, new input starts a new turn instead.
  if (input.length > 0) return startStep(sessions, call);
  throw approvalLost(origin.threadId);
}

function suspendedTurn(
  sessions: Sessions,
  threadId: string,
  turnId: string | undefined,
): { readonly session: Session; readonly run: TurnRun } | undefined {
  const session = sessions.find(threadId);
  const run = session?.isSuspended ? session.run : undefined;
  return session && run?.turnId === turnId && run ? { session, run } : undefined;
}

/** Whether a waiting turn has exactly this call's messages. A call that names the thread need not pass them. */
function agreesWith(session: Session, { prompt, options }: Call): boolean {
  if (options.threadId === session.thread.id) return true;
  const { entries, prefixLength } = prompt.digests;
  return session.transcript.compare(entries.slice(0, prefixLength)).type === "same";
}

/** Notifies a waiting turn that its client has returned. Returns false if the turn has ended. */
async function isBack(session: Session, call: Call): Promise<boolean> {
  session.unpark();
  try {
    return await addInput(session, call);
  } catch (error) {
    session.abandon("The client returned and cancelled its call.");
    throw error;
  }
}

/** Continues a turn that is waiting for this call. */
function continueTurn(
  { session, run }: { readonly session: Session; readonly run: TurnRun },
  call: Call,
): Step {
  const { broker, transcript } = session;
  const { entries, prefixLength } = call.prompt.digests;
  if (call.options.threadId === undefined) transcript.continueWith(entries);
  else transcript.appendNamed(entries, entries.slice(prefixLength));
  broker.serve(call);
  submitAnswers(broker, answersOf(call.prompt));
  broker.clearEarlyAnswers();
  broker.reportAgain();
  return { session, run, answered: call.prompt.approvals, warnings: changedSettings(run, session, call) };
}

/** Returns warnings for settings that `prepareStep` changed during a turn, because Codex can't apply them. */
function changedSettings(run: TurnRun, session: Session, call: Call): SharedV4Warning[] {
  const wanted = turnSettings(call);
  const names = Object.keys({ ...run.begunWith, ...wanted }).filter(
    (name) => !isDeepStrictEqual(run.begunWith[name], wanted[name]),
  );
  if (session.instructions !== call.instructions) names.push("instructions");
  return names.map((name) => ({
    type: "unsupported",
    feature: `${name} changed during a turn`,
    details: "Codex uses a turn's initial settings until the turn ends. The next turn uses the new value.",
  }));
}

async function startStep(sessions: Sessions, call: Call): Promise<Step> {
  try {
    return await openAndStart(sessions, call);
  } catch (error) {
    // The first call after a crash only detects it. A retry starts another codex.
    if (isLost(error)) return openAndStart(sessions, call);
    throw error;
  }
}

async function openAndStart(sessions: Sessions, asked: Call): Promise<Step> {
  return inWorkspace(sessions, asked, async (call) => {
    const opened = await openSession(sessions, call);
    try {
      const started = await startTurn(sessions, opened, call);
      sessions.prepareNext(call, opened.session);
      return { ...started, answered: [], warnings: [...opened.warnings, ...started.warnings] };
    } catch (error) {
      // The thread was in the memory of a codex that has exited, and so were all prestarted threads.
      if (!isGone(error) || call.options.threadId !== undefined) throw error;
      sessions.drop(opened.session);
      sessions.dropPrestarted();
      return freshStep(sessions, call);
    }
  });
}

/**
 * Continues from the messages in a new thread, because their turn no longer exists or has different messages.
 * @param changed The thread whose messages differ.
 */
function startFresh(sessions: Sessions, asked: Call, changed?: Session): Promise<Step> {
  return inWorkspace(sessions, asked, (call) => freshStep(sessions, call, changed));
}

async function freshStep(sessions: Sessions, call: Call, changed?: Session): Promise<Step> {
  const hasWarnedOfChange = changed !== undefined;
  const warnings = changed?.hasWarnedOfChange ? [] : freshWarnings(call, changed);
  const opened = await sessions.start(call, { warnings, hasWarnedOfChange });
  const started = await startTurn(sessions, opened, call);
  return { ...started, answered: [], warnings: [...opened.warnings, ...started.warnings] };
}

function freshWarnings({ prompt }: Call, changed: Session | undefined): SharedV4Warning[] {
  if (changed !== undefined) return [changedWarning(changed.thread.id)];
  if (prompt.thread === undefined) return [];
  const message =
    "The turn that these messages belong to is over, so they were moved to a new thread, which continues from there.";
  return [{ type: "other", message }];
}

function approvalLost(threadId: string): CodexModelError {
  return new CodexModelError(
    "approval_lost",
    `No turn of thread ${threadId} is waiting for this approval: it timed out, or the process that requested it ` +
      "exited. Nothing was run. Send a new message. To approve from another process, connect both to one server and set " +
      "persist: true.",
  );
}
