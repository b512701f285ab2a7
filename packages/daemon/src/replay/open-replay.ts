import { messageOf } from "@codexkit/rpc/async";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "../database.ts";
import { DaemonError } from "../errors.ts";
import { errorCode } from "../files/file-error.ts";
import { importSession } from "../transfer/import-session.ts";
import { LINE_BYTES, readSessionFile } from "../transfer/read-session-file.ts";

const PREFIX = "codexkit-replay-";
/**
 * Folders of killed replays are removed after this time. The folder of a running replay can be that old, but it is
 * regularly touched.
 */
const ABANDONED_MS = 7 * 24 * 3_600_000;
/** Not the name of any node, so that no daemon treats its own files as those of the session. */
const NODE = "exported-from";

/** Creates a folder for the store of a replay. It is removed on disposal. */
export async function createReplayFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  await removeAbandoned();
  const path = await mkdtemp(join(tmpdir(), PREFIX));
  return { path, [Symbol.asyncDispose]: async () => rm(path, { recursive: true, force: true }) };
}

/**
 * Adds the session of a file unchanged, with its ID and journal. Rejects with `bad_options` if the file can't be used.
 */
export async function loadReplay(database: Database, file: string): Promise<void> {
  try {
    await using lines = readSessionFile(file, LINE_BYTES);
    const { session } = await importSession(database, lines, {
      needs: [`node:${NODE}`],
      nodeName: NODE,
      maxSessions: 1,
      by: "replay",
      isReplay: true,
    });
    await database.audit.record({ by: "replay", action: "session.replayed", sessionId: session.id });
  } catch (error) {
    const reason = messageOf(error);
    if (!DaemonError.is(error) && errorCode(error) === undefined) throw error;
    throw new DaemonError("bad_options", `"${file}" can't be replayed. ${reason}`, { cause: error });
  }
}

async function removeAbandoned(): Promise<void> {
  const entries = await readdir(tmpdir()).catch(() => []);
  for (const name of entries.filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(tmpdir(), name);
    const stats = await stat(path).catch(() => undefined);
    const isOwn = stats?.uid === process.getuid?.();
    if (stats && isOwn && Date.now() - stats.mtimeMs > ABANDONED_MS) {
      await rm(path, { recursive: true, force: true }).catch(() => {});
    }
  }
}
