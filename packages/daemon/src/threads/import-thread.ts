import type { SessionSettings, SessionSetup } from "../api/settings.ts";
import type { Database } from "../database.ts";
import { fingerprint, newId } from "../database/ids.ts";
import type { CommandRow, SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { insertCommand } from "../session-store/insert-command.ts";
import { findCreateCommand, newSessionRow } from "../session-store/new-session-row.ts";
import { explainLock } from "../sessions/writer-lock.ts";
import { StagedSession } from "../transfer/staged-session.ts";
import type { CliThreads } from "./cli-threads.ts";
import { copyThread, findEnd } from "./copy-thread.ts";
import type { ThreadFiles } from "./thread-files.ts";

/** Maximum bytes per transaction. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Epoch of the stored bytes. No owner has written them. */
const NO_EPOCH = 0;

export interface ThreadImport {
  readonly threadId: string;
  /** import: continues the same thread here. fork: creates a copy with its own ID. */
  readonly as: "import" | "fork";
  /** The last turn of a fork. Default: the newest turn that has ended. */
  readonly lastTurnId?: string | undefined;
  readonly name?: string | undefined;
  readonly settings: SessionSettings;
  readonly setup: SessionSetup;
  readonly priority: number;
  /** Returns the labels that a node must have for a folder. */
  readonly needs: (cwd: string) => readonly string[];
  readonly tenantId: string;
  readonly nodeName: string;
  readonly maxSessions: number;
  readonly by: string;
  /** Idempotency key, unique per creator. */
  readonly key: string;
  /** Resolves the folder of the thread. Rejects with `path_not_allowed`. */
  readonly checkFolder: (folder: string) => Promise<string>;
}

export interface ImportedThread {
  readonly session: SessionRow;
  /** The command that loads the thread and reads its history into the journal. */
  readonly command: CommandRow;
}

/**
 * Creates a session from a thread in the user's Codex home. The home is only read: the rollout is copied into the
 * store, and from there into the daemon's own Codex home.
 */
export async function importThread(
  database: Database,
  threads: CliThreads,
  request: ThreadImport,
): Promise<ImportedThread> {
  const { threadId, as, lastTurnId, by, key } = request;
  const { name, settings, setup } = request;
  const print = fingerprint({ kind: "importThread", threadId, as, lastTurnId, name, settings, setup });
  const known = await findCreateCommand(database.store.db, { by, key, fingerprint: print });
  if (known) return { session: await database.sessions.require(known.session_id), command: known };
  await using files = await threads.open(threadId);
  const cwd = await request.checkFolder(files.main.meta.cwd);
  const isFork = as === "fork";
  const lines = isFork ? await findEnd(files, lastTurnId) : undefined;
  if (!isFork) await refuseWhileOpen(threads, threadId);
  const copyId = isFork ? newId() : threadId;
  const { nodeName, maxSessions } = request;
  await using staged = await StagedSession.begin(database, { threadId: copyId, nodeName, maxSessions });
  const options = isFork ? { threadId: copyId, ...(lines !== undefined && { lines }) } : {};
  await storeRollout(database, staged, { copyId, files, chunks: copyThread(files, options) });
  const names = await threads.home.threadNames();
  let command: CommandRow | undefined;
  const commandId = newId();
  const session = await staged.publish({
    row: newSessionRow(
      {
        threadId: copyId,
        name: name ?? names.get(threadId),
        cwd,
        settings,
        setup,
        priority: request.priority,
        needs: request.needs(cwd),
        tenantId: request.tenantId,
        isReady: true,
      },
      database.store.now,
    ),
    events: [{ type: "session.created" }, { type: "command.accepted", commandId, key, kind: "create" }],
    audit: { by, action: isFork ? "thread.forked" : "thread.imported", subject: threadId, detail: { cwd } },
    also: async (trx) => {
      command = await insertCommand(database.store, trx, {
        id: commandId,
        session_id: staged.sessionId,
        key,
        fingerprint: print,
        kind: "create",
        body: "{}",
        by,
      });
    },
  });
  if (!command) throw new Error("The session was stored without its command.");
  return { session, command };
}

/** If two programs continued the same thread, it would have two histories. */
async function refuseWhileOpen(threads: CliThreads, threadId: string): Promise<void> {
  const { holder } = await explainLock(threads.home.path, threadId);
  if (!holder) return;
  throw new DaemonError(
    "writer_locked",
    `The process ${holder.pid} has the thread open. Close it there, follow the thread, or fork it.`,
    { details: { holder } },
  );
}

async function storeRollout(
  database: Database,
  staged: StagedSession,
  { copyId, files, chunks }: { copyId: string; files: ThreadFiles; chunks: AsyncIterable<Buffer> },
): Promise<void> {
  if ((await database.rollouts.storedBytes(copyId)) > 0) {
    throw new DaemonError(
      "thread_in_use",
      "Forks of an earlier import of this thread still need its file. Fork the thread instead.",
    );
  }
  const { time } = files.main.rollout.name;
  const [year, month, day] = time.slice(0, 10).split("-");
  const path = `sessions/${year}/${month}/${day}/rollout-${time}-${copyId}.jsonl`;
  let atByte = 0;
  let pending: Buffer[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const data = Buffer.concat(pending);
    pending = [];
    length = 0;
    if (data.length === 0) return;
    await staged.write(async (trx) =>
      database.rollouts.appendWhole(
        trx,
        { sessionId: staged.sessionId, epoch: NO_EPOCH, nodeId: "" },
        { rolloutId: copyId, path, role: "main", atByte, data },
      ),
    );
    atByte += data.length;
  };
  for await (const chunk of chunks) {
    pending.push(chunk);
    length += chunk.length;
    if (length >= BATCH_BYTES) await flush();
  }
  await flush();
}
