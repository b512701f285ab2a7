import type { SharedV4Warning } from "@ai-sdk/provider";
import type { Thread } from "codexkit";
import type { Call } from "../model/read-call.ts";
import type { ThreadOrigin } from "../prompt/thread-of.ts";
import { toolFingerprints } from "../tools/client-tools.ts";
import type { Session } from "./session.ts";
import type { Opened, Sessions } from "./sessions.ts";
import { isRefused } from "./thread-errors.ts";

/**
 * The thread for a call: the one that it names, the one that its messages came from, or one of its own. Messages whose thread
 * is gone, or has other tools, lose nothing: they become the history of a fresh one.
 */
export async function openSession(sessions: Sessions, call: Call): Promise<Opened> {
  const { threadId, fork } = call.options;
  if (threadId !== undefined) return openNamed(sessions, threadId, call);
  const { thread: origin } = call.prompt;
  if (origin === undefined) return sessions.start(call);
  try {
    if (fork) return { session: await sessions.fork(origin.threadId, call, placeOf(fork)), warnings: [] };
    return await goOn(sessions, origin, call);
  } catch (error) {
    if (!isRefused(error)) throw error;
    return sessions.start(call, [lostWarning(origin.threadId, error)]);
  }
}

async function openNamed(sessions: Sessions, threadId: string, call: Call): Promise<Opened> {
  const { fork } = call.options;
  const session = fork
    ? await sessions.fork(threadId, call, placeOf(fork))
    : await sessions.resume(threadId, call);
  const unknown = missingTools(session, call);
  if (unknown.length === 0) return { session, warnings: [] };
  const details = `Thread ${threadId} was started without them, and a thread keeps its tools.`;
  return { session, warnings: [{ type: "unsupported", feature: `tools ${unknown.join(", ")}`, details }] };
}

async function goOn(sessions: Sessions, origin: ThreadOrigin, call: Call): Promise<Opened> {
  const held = sessions.find(origin.threadId);
  const session = await sessions.resume(origin.threadId, call);
  const changed = missingTools(session, call);
  if (changed.length > 0) return sessions.start(call, [toolsWarning(changed)]);
  const newest = held ? held.newestTurn : await newestTurn(session.thread, call);
  const { turnId } = origin;
  // Whoever comes while a turn runs waits for its end. A thread that went on without these messages is left alone, also one
  // that waits for the client of others.
  const isAtRest = session.isIdle || session.isParked;
  const isBehind = turnId !== undefined && newest !== undefined && newest !== turnId && isAtRest;
  if (!isBehind) return { session, warnings: [] };
  if (!session.isStored) return sessions.start(call);
  return { session: await sessions.fork(origin.threadId, call, { lastTurnId: turnId }), warnings: [] };
}

/** The tools of the call that the thread does not have, or not in this form. */
function missingTools({ tools }: Session, call: Call): string[] {
  if (tools === undefined) return [];
  return [...toolFingerprints(call.tools)].flatMap(([name, print]) =>
    tools.get(name) === print ? [] : [name],
  );
}

async function newestTurn(thread: Thread, { callOptions }: Call): Promise<string | undefined> {
  for await (const { id } of thread.history.turns({ limit: 1 }, callOptions)) return id;
  return undefined;
}

function placeOf(fork: NonNullable<Call["options"]["fork"]>): {
  readonly lastTurnId?: string;
  readonly beforeTurnId?: string;
} {
  return typeof fork === "object" ? fork : {};
}

function lostWarning(threadId: string, error: unknown): SharedV4Warning {
  const why = error instanceof Error ? error.message : String(error);
  const message = `Thread ${threadId} can't be gone on with (${why}): its messages were put into a new one.`;
  return { type: "other", message };
}

function toolsWarning(tools: readonly string[]): SharedV4Warning {
  return {
    type: "compatibility",
    feature: `new tools in the middle of a thread: ${tools.join(", ")}`,
    details: "A thread keeps the tools that it began with: the messages were put into a new one.",
  };
}
