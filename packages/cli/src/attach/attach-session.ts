import type { DaemonClient, Session, SessionEvent } from "@codexkit/daemon/client";
import { type CliContext, printJson } from "../context.ts";
import { connectDaemon } from "../daemon/connect-daemon.ts";
import type { DaemonCommandOptions } from "../daemon/daemon-options.ts";
import { EXIT, SilentExit } from "../errors/cli-error.ts";
import { findSession } from "../session/find-session.ts";
import { SessionScreen } from "./session-screen.ts";

export interface AttachOptions extends DaemonCommandOptions {
  readonly once?: boolean;
}

/** Implements `codexkit attach`. */
export async function attachSession(
  text: string,
  options: AttachOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connectDaemon(options, context);
  const session = await findSession(client, text, context.signal);
  const after = await findStart(client, session, context.signal);
  const exiting = new AbortController();
  const signal = AbortSignal.any([context.signal, exiting.signal]);
  await using screen = context.json
    ? undefined
    : new SessionScreen({ client, session, context, onExit: () => exiting.abort() });
  let end: SessionEvent["type"] | undefined;
  for await (const event of client.sessionEvents(session.id, { after, signal })) {
    if (screen) screen.handle(event);
    else printJson(context, event);
    if (/^turn\.(?:completed|failed|interrupted)$/.test(event.type)) end = event.type;
    // In a session that was already idle, events may follow the end of the turn. Read up to its last one.
    if (options.once && end !== undefined && event.seq >= session.lastSeq) break;
  }
  context.signal.throwIfAborted();
  if (options.once && end === "turn.failed") throw new SilentExit(EXIT.failed);
}

/** Returns the sequence number of the event before the newest turn. */
async function findStart(
  client: DaemonClient,
  { id, lastSeq }: Session,
  signal: AbortSignal,
): Promise<number> {
  const { data } = await client.request("GET /sessions/{sessionId}/turns", {
    params: { sessionId: id },
    query: { limit: 1 },
    signal,
  });
  return data[0] ? data[0].firstSeq - 1 : lastSeq;
}
