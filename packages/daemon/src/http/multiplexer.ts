import type { StreamFrame } from "../api/stream.ts";
import type { Database } from "../database.ts";
import type { ApprovalRow, SessionRow } from "../database/tables.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { formatMessage } from "./event-stream.ts";
import { formatCursor, type StreamCursor } from "./stream-cursor.ts";
import type { SummaryFeeds } from "./summary-feeds.ts";
import { viewApproval, viewSession } from "../views.ts";
import { Watcher } from "./watcher.ts";

export interface MultiplexOptions {
  readonly database: Database;
  readonly feeds: SummaryFeeds;
  readonly cursor: StreamCursor | undefined;
  /** Position of each watched session. Undefined: the session does not exist. */
  readonly watched: ReadonlyMap<string, number | undefined>;
  readonly signal: AbortSignal;
  readonly onBatch: () => void;
}

const encoder = new TextEncoder();
const MAX_OPEN_APPROVALS = 10_000;

/**
 * Resolves the positions of the watched sessions: after the cursor, else after the number that the client passed, else
 * from now on. Rejects with `invalid_cursor` for a position in the future.
 */
export async function resolveWatched(
  { sessions, journal }: Database,
  watch: ReadonlyMap<string, number | undefined>,
  cursor: StreamCursor | undefined,
): Promise<Map<string, number | undefined>> {
  const watched = new Map<string, number | undefined>();
  for (const [id, given] of watch) {
    const row = await sessions.get(id);
    const after = cursor?.watched[id] ?? given ?? row?.last_seq;
    if (row && after !== undefined) await journal.read(id, { after, limit: 1 });
    watched.set(id, row && after);
  }
  return watched;
}

/** Yields the chunks of one multiplexed stream: the changes since the cursor, then new changes. */
export async function* multiplex(options: MultiplexOptions): AsyncGenerator<Uint8Array> {
  const { database, feeds, cursor, watched, signal, onBatch } = options;
  let wake: (() => void) | undefined;
  const onChange = (): void => wake?.();
  const sessions = new PendingRows<SessionRow>(feeds.sessions, onChange);
  const inbox = new PendingRows<ApprovalRow>(feeds.inbox, onChange);
  using _sessions = await sessions.subscribe();
  using _inbox = await inbox.subscribe();
  const stop = new AbortController();
  using _watchers = { [Symbol.dispose]: () => stop.abort() };

  const position = {
    sessions: cursor?.sessions ?? sessions.mark,
    inbox: cursor?.inbox ?? inbox.mark,
    watched: Object.fromEntries([...watched].filter(([, after]) => after !== undefined)) as Record<
      string,
      number
    >,
  };
  const encode = (frames: readonly StreamFrame[]): Uint8Array => {
    onBatch();
    const messages = frames.map((frame) => formatMessage(formatCursor(position), JSON.stringify(frame)));
    return encoder.encode(messages.join(""));
  };

  if (cursor) {
    const [sessionMark, inboxMark] = [sessions.mark, inbox.mark];
    for await (const rows of feeds.sessions.since(cursor.sessions))
      yield encode(sessions.replace(rows).map(sessionFrame));
    position.sessions = Math.max(position.sessions, sessionMark);
    for await (const rows of feeds.inbox.since(cursor.inbox))
      yield encode(inbox.replace(rows).map(approvalFrame));
    position.inbox = Math.max(position.inbox, inboxMark);
  }
  yield encode([{ type: "synced", openApprovals: await listOpen(database) }]);
  const missing = [...watched].filter(([, after]) => after === undefined);
  if (missing.length > 0) yield encode(missing.map(([sessionId]) => ({ type: "unavailable", sessionId })));

  const ended = AbortSignal.any([signal, stop.signal]);
  const watchers = Object.entries(position.watched).map(
    ([sessionId, after]) =>
      new Watcher({ journal: database.journal, sessionId, after, signal: ended, onChange }),
  );
  signal.addEventListener("abort", onChange, { once: true });
  while (!signal.aborted) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let isIdle = true;
    for (const [pending, key, toFrame] of [
      [sessions, "sessions", sessionFrame],
      [inbox, "inbox", approvalFrame],
    ] as const) {
      const { rows, mark } = pending.drain();
      if (rows.length === 0) continue;
      isIdle = false;
      // Only the last frame of a batch advances the cursor, because a client that has received it has received the
      // whole batch.
      const frames = rows.map((row) => toFrame(row as never));
      if (frames.length > 1) yield encode(frames.slice(0, -1));
      position[key] = mark;
      yield encode(frames.slice(-1));
    }
    for (const watcher of watchers) {
      const batch = watcher.drain();
      if (!batch) continue;
      isIdle = false;
      const { sessionId } = watcher;
      const opening = `{"type":"event","sessionId":${JSON.stringify(sessionId)},"event":`;
      let text = "";
      for (const { seq, json } of batch.texts()) {
        position.watched[sessionId] = seq;
        text += formatMessage(formatCursor(position), `${opening}${json}}`);
      }
      onBatch();
      yield encoder.encode(text);
    }
    if (isIdle) await changed;
  }
}

/**
 * The newest unsent state of each changed row. Its size is limited by the number of rows, regardless of how slow the
 * reader is.
 */
class PendingRows<Row extends { readonly id: string; readonly updated_at: number }> {
  readonly #rows = new Map<string, Row>();
  readonly #feed: ChangeFeed<Row>;
  readonly #onChange: () => void;

  constructor(feed: ChangeFeed<Row>, onChange: () => void) {
    this.#feed = feed;
    this.#onChange = onChange;
  }

  get mark(): number {
    return this.#feed.mark;
  }

  async subscribe(): Promise<Disposable> {
    return this.#feed.subscribe((rows) => {
      for (const row of rows) this.#rows.set(row.id, row);
      this.#onChange();
    });
  }

  drain(): { readonly rows: readonly Row[]; readonly mark: number } {
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    return { rows, mark: this.mark };
  }

  /** Removes pending states that are not newer than these rows. */
  replace(rows: readonly Row[]): readonly Row[] {
    for (const row of rows) {
      const pending = this.#rows.get(row.id);
      if (pending && pending.updated_at <= row.updated_at) this.#rows.delete(row.id);
    }
    return rows;
  }
}

function sessionFrame(row: SessionRow): StreamFrame {
  return { type: "session", session: viewSession(row) };
}

function approvalFrame(row: ApprovalRow): StreamFrame {
  return { type: "approval", approval: viewApproval(row) };
}

async function listOpen({ inbox }: Database): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await inbox.list({
      state: ["open", "parked"],
      limit: 500,
      ...(cursor !== undefined && { cursor }),
    });
    ids.push(...page.rows.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined && ids.length < MAX_OPEN_APPROVALS);
  return ids;
}
