import type { AppServerLease } from "../codex/pool.ts";
import type { Ownership } from "../database/ownership.ts";
import type { ParkedApproval, ParkedProgress } from "../inbox/parked-inbox.ts";
import { type CutFile, restoreThread } from "../parking/restore-thread.ts";
import { findOpenCalls, lengthAtRequest, type ModelCall, readLines } from "../parking/rollout-lines.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import type { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SessionState } from "./session-state.ts";

/** The session's thread as it was while its requests waited. */
export interface WaitingThread {
  readonly rolloutId: string;
  readonly file: Uint8Array;
  readonly calls: readonly ModelCall[];
  /** Length of the part that other sessions continue. It can't be cut off. */
  readonly continuedBytes: number;
}

export interface WaitingThreadDeps {
  readonly session: SessionDeps;
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly rollouts: RolloutShipper;
  readonly load: () => Promise<LoadedThread>;
  /** Closes the thread if it is loaded. */
  readonly unload: () => Promise<void>;
}

/** Reads the stored file of the thread. Undefined if it is not stored. */
export async function readWaitingThread(
  rows: readonly ParkedApproval[],
  { session, state, owner }: WaitingThreadDeps,
): Promise<WaitingThread | undefined> {
  const { rollouts } = session.database;
  const files = await rollouts.lineage(owner.sessionId);
  // A revert continues a thread in another file. The newest file has the request.
  const main = files
    .filter(({ role }) => role === "main")
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .at(-1);
  const data = main && (await rollouts.read(main.id));
  if (!main || !data) return undefined;
  const lengths = rows.flatMap(({ thread_id: threadId, rollout_bytes: bytes, progress }) => {
    const length = threadId === state.threadId ? bytes : progress.rootBytes;
    return length === null || length === undefined ? [] : [length];
  });
  const end = lengths.length === 0 ? data.length : lengthAtRequest(data, Math.min(...lengths));
  const continuedBytes = await rollouts.continuedBytes(main.id);
  const file = data.subarray(0, Math.max(end, continuedBytes));
  return { rolloutId: main.id, file, calls: findOpenCalls(readLines(file)), continuedBytes };
}

/**
 * Writes the files to this daemon's Codex home, with the thread's own file truncated to `cutBytes`, and loads the thread.
 *
 * @param progress Stored with the truncated files.
 */
export async function restoreWaitingThread(
  rows: readonly ParkedApproval[],
  { rolloutId, file }: WaitingThread,
  cutBytes: number,
  { session, state, owner, rollouts, load, unload }: WaitingThreadDeps,
  progress?: Partial<ParkedProgress>,
): Promise<LoadedThread> {
  const { database, pool, codexHome } = session;
  const { sessionId, setup } = state;
  await unload();
  // An imported request may have any length: what other sessions continue is not cut.
  const cutFile = async (id: string, data: Uint8Array, bytes: number): Promise<CutFile> => ({
    rolloutId: id,
    data: data.subarray(0, Math.max(bytes, await database.rollouts.continuedBytes(id))),
  });
  const cuts = [await cutFile(rolloutId, file, cutBytes)];
  const files = await database.rollouts.lineage(sessionId);
  // An imported request may name any thread: only files of this session's own agents are cut.
  const agents = new Set(files.filter(({ role }) => role === "agent").map(({ id }) => id));
  for (const row of rows.filter(({ thread_id: id }) => agents.has(id))) {
    const data = await database.rollouts.read(row.thread_id);
    if (!data || row.rollout_bytes === null) continue;
    cuts.push(await cutFile(row.thread_id, data, lengthAtRequest(data, row.rollout_bytes)));
  }
  using lease: AppServerLease = await pool.acquire({ sessionId, dedicated: setup.dedicated === true });
  const { codex } = lease.server;
  await restoreThread(codex, { sessionId, codexHome, rollouts: database.rollouts, cuts });
  await database.parked.record(owner, progress ? rows : [], progress ?? {}, {
    also: async (trx) => {
      for (const cut of cuts) await database.rollouts.truncate(trx, cut.rolloutId, cut.data.length);
    },
  });
  rollouts.forget();
  // The server must not be released before the thread is loaded on it.
  return await load();
}
