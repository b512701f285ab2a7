import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { DaemonTables, RolloutTable } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { DEFAULT_ROLLOUT_LIMITS, type RolloutLimits } from "./limits.ts";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const READ_ATTEMPTS = 10;

export type RolloutRole = "main" | "base" | "agent";

export interface RolloutChunk {
  /** Codex's ID of the file. */
  readonly rolloutId: string;
  /** Relative to `CODEX_HOME`. */
  readonly path: string;
  /** The file that this one refers to, for forks and reverts. */
  readonly baseId?: string;
  readonly role: RolloutRole;
  /** Offset of `data` in the file. There must be no gap after the stored bytes. Bytes that are already stored are skipped. */
  readonly atByte: number;
  readonly data: Uint8Array;
}

export interface RolloutFile {
  readonly id: string;
  readonly path: string;
  readonly baseId: string | null;
  readonly role: RolloutRole;
  readonly bytes: number;
}

/** Stores Codex's rollout files, from which a thread can be resumed on another node. */
export class RolloutStore {
  readonly #store: Store<DaemonTables>;
  readonly #limits: RolloutLimits;

  constructor(store: Store<DaemonTables>, limits: Partial<RolloutLimits> = {}) {
    this.#store = store;
    this.#limits = { ...DEFAULT_ROLLOUT_LIMITS, ...limits };
  }

  /**
   * Appends a chunk. Call it inside `Journal.append`'s `also`. Rejects with `rollout_mismatch` if there is a gap after the stored
   * bytes. If the file would exceed the limit, no more of it is stored, the session is pinned to its node, and this resolves to
   * `too_large`.
   */
  async append(
    trx: DaemonTransaction,
    owner: Ownership,
    chunk: RolloutChunk,
  ): Promise<"stored" | "too_large"> {
    const { rolloutId, path, baseId = null, role, atByte, data } = chunk;
    await trx
      .insertInto("rollout")
      .values({ id: rolloutId, path, base_id: baseId, bytes: 0, image: null, image_bytes: 0 })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
    await trx
      .insertInto("session_rollout")
      .values({ session_id: owner.sessionId, rollout_id: rolloutId, role })
      .onConflict((conflict) => conflict.columns(["session_id", "rollout_id"]).doNothing())
      .execute();
    const { bytes: stored, is_partial: isPartial } = await trx
      .selectFrom("rollout")
      .select(["bytes", "is_partial"])
      .where("id", "=", rolloutId)
      .executeTakeFirstOrThrow();
    if (isPartial === 1) return "too_large";
    if (atByte > stored) {
      throw new DaemonError(
        "rollout_mismatch",
        `The rollout ${rolloutId} has ${stored} stored bytes, but the new ones begin at ${atByte}.`,
      );
    }
    const fresh = data.subarray(stored - atByte);
    if (fresh.length === 0) return "stored";
    if (stored + fresh.length > this.#limits.rolloutBytes) {
      await trx.updateTable("rollout").set({ is_partial: 1 }).where("id", "=", rolloutId).execute();
      await pinToNode(trx, owner);
      return "too_large";
    }
    await trx
      .insertInto("rollout_chunk")
      .values({ rollout_id: rolloutId, at_byte: stored, epoch: owner.epoch, data: fresh })
      .execute();
    await trx
      .updateTable("rollout")
      .set({ bytes: stored + fresh.length, path })
      .where("id", "=", rolloutId)
      .execute();
    return "stored";
  }

  /** Like `append`, for a file that is useless if incomplete. Rejects with `rollout_too_large` beyond the limit. */
  async appendWhole(trx: DaemonTransaction, owner: Ownership, chunk: RolloutChunk): Promise<void> {
    if ((await this.append(trx, owner, chunk)) === "too_large") throw this.#tooLarge(chunk.rolloutId);
  }

  /** Truncates the stored file, like the original. */
  async truncate(trx: DaemonTransaction, rolloutId: string, atByte: number): Promise<void> {
    const whole = await this.#read(trx, rolloutId);
    if (!whole || whole.length <= atByte) return;
    await trx.deleteFrom("rollout_chunk").where("rollout_id", "=", rolloutId).execute();
    await trx
      .updateTable("rollout")
      .set({ image: await compress(whole.subarray(0, atByte)), image_bytes: atByte, bytes: atByte })
      .where("id", "=", rolloutId)
      .execute();
  }

  /** Returns how many bytes of a file other files continue. The file must not be truncated below that. */
  async continuedBytes(rolloutId: string): Promise<number> {
    const { db } = this.#store;
    const forks = await db.selectFrom("rollout").select("id").where("base_id", "=", rolloutId).execute();
    let bytes = 0;
    for (const { id } of forks) bytes = Math.max(bytes, endOfBase(await this.#read(db, id)));
    return bytes;
  }

  /** Returns the number of stored bytes. 0 for an unknown file. */
  async storedBytes(rolloutId: string): Promise<number> {
    return this.#bytes(this.#store.db, rolloutId);
  }

  /** Returns the files of a session and the files that they refer to. */
  async lineage(sessionId: string): Promise<readonly RolloutFile[]> {
    const files = new Map<string, RolloutFile>();
    const own = await this.#store.db
      .selectFrom("session_rollout")
      .innerJoin("rollout", "rollout.id", "session_rollout.rollout_id")
      .select(["rollout.id", "path", "base_id as baseId", "role", "bytes"])
      .where("session_id", "=", sessionId)
      .execute();
    for (const file of own) files.set(file.id, file);
    let missing = basesOf(files);
    while (missing.length > 0) {
      const bases = await this.#store.db
        .selectFrom("rollout")
        .select(["id", "path", "base_id as baseId", "bytes"])
        .where("id", "in", missing)
        .execute();
      if (bases.length === 0) break;
      for (const base of bases) files.set(base.id, { ...base, role: "base" });
      missing = basesOf(files);
    }
    return [...files.values()];
  }

  /** Rejects with `rollout_too_large` if the end of a file is not stored. */
  async requireEnd(rolloutId: string): Promise<void> {
    const row = await this.#store.db
      .selectFrom("rollout")
      .select("is_partial")
      .where("id", "=", rolloutId)
      .executeTakeFirst();
    if (row?.is_partial === 1) throw this.#tooLarge(rolloutId);
  }

  /** Reads a whole file. Rejects with `rollout_too_large` if its end is not stored. */
  async read(rolloutId: string): Promise<Uint8Array | undefined> {
    await this.requireEnd(rolloutId);
    return this.#read(this.#store.db, rolloutId);
  }

  /**
   * Rejects unless the whole files of a session are stored: with `rollout_too_large` if one exceeds the limit, and with
   * `rollout_mismatch` if one is shorter than it should be. Call it before Codex deletes its own files, and in the transaction that
   * depends on it.
   *
   * @param lengths Known lengths of files, by ID.
   */
  async requireWhole(
    sessionId: string,
    lengths: ReadonlyMap<string, number> = new Map(),
    db: DaemonTransaction | Store<DaemonTables>["db"] = this.#store.db,
  ): Promise<void> {
    const files = await db
      .selectFrom("session_rollout")
      .innerJoin("rollout", "rollout.id", "session_rollout.rollout_id")
      .select(["rollout.id", "is_partial"])
      .where("session_id", "=", sessionId)
      .where("role", "!=", "base")
      .execute();
    const partial = files.find(({ is_partial: isPartial }) => isPartial === 1);
    if (partial) throw this.#tooLarge(partial.id);
    for (const [id, length] of lengths) {
      const stored = await this.#bytes(db, id);
      if (stored >= length) continue;
      throw new DaemonError(
        "rollout_mismatch",
        `Only ${stored} of ${length} bytes of the rollout ${id} are stored.`,
      );
    }
  }

  /** Like `read`, inside a transaction, and also for a file whose end is not stored. */
  async readIn(trx: DaemonTransaction, rolloutId: string): Promise<Uint8Array | undefined> {
    return this.#read(trx, rolloutId);
  }

  /** Whether the file is the main or an agent's file of any session. Sessions that only use it as a base don't count. */
  async isOwned(trx: DaemonTransaction, rolloutId: string): Promise<boolean> {
    const row = await trx
      .selectFrom("session_rollout")
      .select("session_id")
      .where("rollout_id", "=", rolloutId)
      .where("role", "!=", "base")
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Replaces the chunks of a file with one compressed image. Compresses outside the transaction, so that no append waits for it.
   * No-op if another node has changed the file in the meantime.
   */
  async compact(rolloutId: string): Promise<void> {
    const { db, kind } = this.#store;
    const before = await chunkState(db, rolloutId);
    if (!before || before.bytes === before.imageBytes) return;
    const whole = await this.#read(db, rolloutId);
    if (whole?.length !== before.bytes) return;
    const image = await compress(whole);
    await db.transaction().execute(async (trx) => {
      if (kind === "postgres") {
        await trx.selectFrom("rollout").select("id").where("id", "=", rolloutId).forUpdate().execute();
      }
      const now = await chunkState(trx, rolloutId, before.bytes);
      if (now?.imageBytes !== before.imageBytes || now.chunks !== before.chunks) return;
      // Chunks that were appended in the meantime begin at or after the end of the image.
      await trx
        .deleteFrom("rollout_chunk")
        .where("rollout_id", "=", rolloutId)
        .where("at_byte", "<", whole.length)
        .execute();
      await trx
        .updateTable("rollout")
        .set({ image, image_bytes: whole.length })
        .where("id", "=", rolloutId)
        .execute();
    });
  }

  /** Compresses the files of idle sessions. Returns the number of files. */
  async compactIdle(signal?: AbortSignal): Promise<number> {
    const ids = await this.uncompacted();
    for (const id of ids) {
      if (signal?.aborted) break;
      await this.compact(id);
    }
    return ids.length;
  }

  /** Returns files with chunks whose sessions are all idle, for `compact`. */
  async uncompacted(limit = 100): Promise<readonly string[]> {
    const before = sql<number>`${this.#store.now} - ${sql.lit(this.#limits.compactAfterMs)}`;
    const rows = await this.#store.db
      .selectFrom("rollout_chunk")
      .select("rollout_id")
      .distinct()
      .where((chunk) =>
        chunk.not(
          chunk.exists(
            chunk
              .selectFrom("session_rollout")
              .innerJoin("session", "session.id", "session_rollout.session_id")
              .select("session.id")
              .whereRef("session_rollout.rollout_id", "=", "rollout_chunk.rollout_id")
              .where((session) =>
                session.or([session("active_turn_id", "is not", null), session("updated_at", ">", before)]),
              ),
          ),
        ),
      )
      .limit(limit)
      .execute();
    return rows.map(({ rollout_id: id }) => id);
  }

  async #bytes(db: DaemonTransaction | Store<DaemonTables>["db"], rolloutId: string): Promise<number> {
    const row = await db.selectFrom("rollout").select("bytes").where("id", "=", rolloutId).executeTakeFirst();
    return row?.bytes ?? 0;
  }

  #tooLarge(rolloutId: string): DaemonError {
    return new DaemonError(
      "rollout_too_large",
      `The thread's file ${rolloutId} is larger than ${this.#limits.rolloutBytes} bytes (limits.rollouts.rolloutBytes), so the store does not have all of it. The session can only be continued on the node that has the file.`,
    );
  }

  async #read(
    db: DaemonTransaction | Store<DaemonTables>["db"],
    rolloutId: string,
  ): Promise<Uint8Array | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const row: Pick<RolloutTable, "bytes" | "image" | "image_bytes"> | undefined = await db
        .selectFrom("rollout")
        .select(["bytes", "image", "image_bytes"])
        .where("id", "=", rolloutId)
        .executeTakeFirst();
      if (!row) return undefined;
      const chunks = await db
        .selectFrom("rollout_chunk")
        .select("data")
        .where("rollout_id", "=", rolloutId)
        .where("at_byte", ">=", row.image_bytes)
        .orderBy("at_byte")
        .execute();
      const image = row.image ? [await decompress(row.image)] : [];
      const whole = Buffer.concat([...image, ...chunks.map(({ data }) => data)]);
      // If bytes are missing, another node has compressed the chunks between the two queries.
      if (whole.length >= row.bytes || attempt === READ_ATTEMPTS) return whole;
    }
  }
}

function basesOf(files: ReadonlyMap<string, RolloutFile>): string[] {
  const bases = [...files.values()].flatMap(({ baseId }) => (baseId === null ? [] : [baseId]));
  return [...new Set(bases)].filter((id) => !files.has(id));
}

/** Reads from the first line of a file how many bytes of its base it continues. */
function endOfBase(file: Uint8Array = new Uint8Array()): number {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  try {
    const { payload } = JSON.parse(bytes.toString("utf8", 0, bytes.indexOf("\n"))) as {
      payload?: { history_base?: { end_byte_offset?: unknown } };
    };
    const end = payload?.history_base?.end_byte_offset;
    return typeof end === "number" ? end : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Returns a state of the file that changes with every write. Chunks that begin at or after `through` are ignored. */
async function chunkState(
  db: DaemonTransaction | Store<DaemonTables>["db"],
  rolloutId: string,
  through = Number.MAX_SAFE_INTEGER,
): Promise<{ readonly bytes: number; readonly imageBytes: number; readonly chunks: string } | undefined> {
  const rollout = await db
    .selectFrom("rollout")
    .select(["bytes", "image_bytes as imageBytes"])
    .where("id", "=", rolloutId)
    .executeTakeFirst();
  if (!rollout) return undefined;
  const chunks = await db
    .selectFrom("rollout_chunk")
    .select(["at_byte", "epoch", sql<number>`octet_length(data)`.as("length")])
    .where("rollout_id", "=", rolloutId)
    .where("at_byte", "<", through)
    .orderBy("at_byte")
    .execute();
  return { ...rollout, chunks: JSON.stringify(chunks) };
}

/** Pins a session to its node, which is the only one with the whole file. */
async function pinToNode(trx: DaemonTransaction, { sessionId, nodeId }: Ownership): Promise<void> {
  const node = await trx.selectFrom("node").select("name").where("id", "=", nodeId).executeTakeFirst();
  if (!node) return;
  const { needs } = await trx
    .selectFrom("session")
    .select("needs")
    .where("id", "=", sessionId)
    .executeTakeFirstOrThrow();
  const all = new Set([...(JSON.parse(needs) as string[]), `node:${node.name}`]);
  await trx
    .updateTable("session")
    .set({ needs: JSON.stringify([...all].toSorted()) })
    .where("id", "=", sessionId)
    .execute();
}
