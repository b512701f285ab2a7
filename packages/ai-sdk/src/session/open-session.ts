import type { SharedV4Warning } from "@ai-sdk/provider";
import { messageOf } from "@codexkit/rpc/async";
import type { Thread, v2 } from "codexkit";
import type { Call } from "../call/read-call.ts";
import type { ThreadOrigin } from "../prompt/thread-of.ts";
import { toolFingerprints } from "./thread-tools.ts";
import { compareStored } from "../transcript/check-stamps.ts";
import type { Comparison, Transcript } from "../transcript/transcript.ts";
import type { Session } from "./session.ts";
import type { Opened, Sessions } from "./sessions.ts";
import { isNotFound, isRefused, notFound, notStored } from "./thread-errors.ts";

/**
 * Opens the thread for a call: the one that it names, the one that its messages belong to, or a new one. If the messages no
 * longer match their thread, they become the history of a copy or of a new thread, so that none is lost.
 */
export async function openSession(sessions: Sessions, call: Call): Promise<Opened> {
  const { threadId, fork } = call.options;
  if (threadId !== undefined) return openNamed(sessions, threadId, call);
  const { thread: origin } = call.prompt;
  if (origin === undefined || sessions.hasReleased(origin.threadId)) return sessions.start(call);
  try {
    if (fork) return { session: await sessions.fork(origin.threadId, call, placeOf(fork)), warnings: [] };
    return await continueThread(sessions, origin, call);
  } catch (error) {
    if (!isRefused(error)) throw error;
    return sessions.start(call, { warnings: [lostWarning(origin.threadId, error)] });
  }
}

async function openNamed(sessions: Sessions, threadId: string, call: Call): Promise<Opened> {
  const session = await namedSession(sessions, threadId, call);
  const unknown = missingTools(session, call);
  if (unknown.length === 0) return { session, warnings: [] };
  const details = `Thread ${threadId} was started without them, and a thread's tools can't change.`;
  return { session, warnings: [{ type: "unsupported", feature: `tools ${unknown.join(", ")}`, details }] };
}

async function namedSession(sessions: Sessions, threadId: string, call: Call): Promise<Session> {
  const { fork } = call.options;
  if (fork && sessions.find(threadId)?.isStored === false) throw notStored(threadId);
  try {
    return fork ? await sessions.fork(threadId, call, placeOf(fork)) : await sessions.resume(threadId, call);
  } catch (error) {
    throw isNotFound(error) ? notFound(threadId, error) : error;
  }
}

async function continueThread(sessions: Sessions, origin: ThreadOrigin, call: Call): Promise<Opened> {
  const isHeld = sessions.find(origin.threadId) !== undefined;
  const session = await sessions.resume(origin.threadId, call);
  const changedTools = missingTools(session, call);
  if (changedTools.length > 0) return sessions.start(call, { warnings: [toolsWarning(changedTools)] });
  // Codex can't replace the instructions of a thread or of its copies, and adding new ones would accumulate versions.
  if (session.instructions !== call.instructions) return sessions.start(call);
  const stored = isHeld ? undefined : compareStored(call, origin, await newestTurn(session.thread, call));
  if (stored !== undefined) session.transcript = stored.transcript;
  const comparison = stored?.comparison ?? compareHeld(session, call);
  // No await before `enter`: of several calls that continue the same message, only one may get the thread.
  if (comparison.type === "same" && session.isFree) {
    return { session, warnings: [], entered: session.enter(call.signal) };
  }
  return copyOrStart(sessions, session, call, comparison);
}

function compareHeld(session: Session, call: Call): Comparison {
  const { entries, prefixLength } = call.prompt.digests;
  return session.transcript.compare(entries.slice(0, prefixLength));
}

/** Leaves the thread unchanged. The call gets a copy through the last matching turn, or a new thread. */
async function copyOrStart(
  sessions: Sessions,
  session: Session,
  call: Call,
  comparison: Comparison,
): Promise<Opened> {
  const isNews = comparison.type === "changed" && !session.hasWarnedOfChange;
  const hasWarnedOfChange = comparison.type === "changed" || session.hasWarnedOfChange;
  const warnings = isNews ? [changedWarning(session.thread.id)] : [];
  const lastTurnId = comparison.type === "same" ? call.prompt.thread?.turnId : comparison.lastTurnId;
  const from = lastTurnId === undefined ? undefined : firstMissing(call, session.transcript, lastTurnId);
  if (!session.isStored || lastTurnId === undefined || from === undefined) {
    return sessions.start(call, { warnings, hasWarnedOfChange });
  }
  const history = await call.prompt.readHistory(from);
  const copy = await sessions.fork(session.thread.id, call, { lastTurnId });
  copy.transcript = session.transcript.through(lastTurnId);
  copy.hasWarnedOfChange = hasWarnedOfChange;
  await sessions.injectHistory(copy, history.items, call);
  return { session: copy, warnings: [...warnings, ...history.warnings] };
}

/** Returns the index of the first message after a turn. Undefined if the turn ended in the middle of a message. */
function firstMissing({ prompt }: Call, transcript: Transcript, lastTurnId: string): number | undefined {
  const { messages } = prompt.digests;
  const { length } = transcript.through(lastTurnId).entries;
  const last = messages[length - 1];
  if (last === undefined || messages[length] === last) return undefined;
  return last + 1;
}

/** Returns the call's tools that the thread lacks, or has with a different definition or owner. */
function missingTools({ tools }: Session, call: Call): string[] {
  if (tools === undefined) return [];
  return [...toolFingerprints(call)].flatMap(([name, print]) => (tools.get(name) === print ? [] : [name]));
}

async function newestTurn(thread: Thread, { callOptions }: Call): Promise<v2.Turn | undefined> {
  for await (const turn of thread.history.turns({ limit: 1, itemsView: "full" }, callOptions)) return turn;
  return undefined;
}

function placeOf(fork: NonNullable<Call["options"]["fork"]>): {
  readonly lastTurnId?: string;
  readonly beforeTurnId?: string;
} {
  return typeof fork === "object" ? fork : {};
}

function lostWarning(threadId: string, error: unknown): SharedV4Warning {
  const why = messageOf(error);
  const message = `Thread ${threadId} can't be continued (${why}), so its messages were moved to a new one.`;
  return { type: "other", message };
}

export function changedWarning(threadId: string): SharedV4Warning {
  const message =
    `The messages of this conversation differ from those in thread ${threadId}, so the call runs on another thread, ` +
    "which contains the messages as passed. This is reported once per conversation.";
  return { type: "other", message };
}

function toolsWarning(tools: readonly string[]): SharedV4Warning {
  return {
    type: "compatibility",
    feature: `new tools on an existing thread: ${tools.join(", ")}`,
    details: "A thread's tools can't change, so the messages were moved to a new thread.",
  };
}
