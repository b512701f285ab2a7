import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import type { Store } from "@codexkit/store";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { DaemonTables, RolloutTable } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

export type RolloutRole = "main" | "base" | "agent";

export interface RolloutChunk {
  /** Codex's ID of the file. */
  readonly rolloutId: string;
  /** Relative to `CODEX_HOME`. */
  readonly path: string;
  /** The file that this one refers to, for forks and reverts. */
  readonly baseId?: string;
  readonly role: RolloutRole;
  /** Where `data` begins. It must continue what is stored; bytes that are stored already are skipped. */
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

/** Codex's rollout files, which are enough to resume a thread elsewhere. */
export class RolloutStore {
  readonly #store: Store<DaemonTables>;

  constructor(store: Store<DaemonTables>) {
    this.#store = store;
  }

  /** Call inside `Journal.append`'s `also`. Rejects with `rollout_mismatch` if bytes between are missing. */
  async append(trx: DaemonTransaction, owner: Ownership, chunk: RolloutChunk): Promise<void> {
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
    const stored = await this.#bytes(trx, rolloutId);
    if (atByte > stored) {
      throw new DaemonError(
        "rollout_mismatch",
        `The rollout ${rolloutId} has ${stored} stored bytes, but the new ones begin at ${atByte}.`,
      );
    }
    const fresh = data.subarray(stored - atByte);
    if (fresh.length === 0) return;
    await trx
      .insertInto("rollout_chunk")
      .values({ rollout_id: rolloutId, at_byte: stored, epoch: owner.epoch, data: fresh })
      .execute();
    await trx
      .updateTable("rollout")
      .set({ bytes: stored + fresh.length, path })
      .where("id", "=", rolloutId)
      .execute();
  }

  /** Removes what is stored from a byte on, for a file that was truncated. */
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

  /** Number of stored bytes; 0 for an unknown file. */
  async storedBytes(rolloutId: string): Promise<number> {
    return this.#bytes(this.#store.db, rolloutId);
  }

  /** The files of a session and those that they refer to. */
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

  /** The whole stored file. */
  async read(rolloutId: string): Promise<Uint8Array | undefined> {
    return this.#read(this.#store.db, rolloutId);
  }

  /** As `read`, inside a transaction. */
  async readIn(trx: DaemonTransaction, rolloutId: string): Promise<Uint8Array | undefined> {
    return this.#read(trx, rolloutId);
  }

  /** Whether a session continues the file. Those that only refer to it don't count. */
  async isOwned(trx: DaemonTransaction, rolloutId: string): Promise<boolean> {
    const row = await trx
      .selectFrom("session_rollout")
      .select("session_id")
      .where("rollout_id", "=", rolloutId)
      .where("role", "!=", "base")
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Replaces the chunks of a file by one compressed image. */
  async compact(rolloutId: string): Promise<void> {
    await this.#store.db.transaction().execute(async (trx) => {
      const whole = await this.#read(trx, rolloutId);
      if (!whole) return;
      // Chunks that are appended meanwhile begin at or after the end of the image.
      await trx
        .deleteFrom("rollout_chunk")
        .where("rollout_id", "=", rolloutId)
        .where("at_byte", "<", whole.length)
        .execute();
      await trx
        .updateTable("rollout")
        .set({ image: await compress(whole), image_bytes: whole.length })
        .where("id", "=", rolloutId)
        .execute();
    });
  }

  /** Files with chunks and without an append since a time, for `compact`. */
  async uncompacted(limit = 100): Promise<readonly string[]> {
    const rows = await this.#store.db
      .selectFrom("rollout_chunk")
      .select("rollout_id")
      .groupBy("rollout_id")
      .having(({ fn }) => fn.countAll(), ">", 1)
      .limit(limit)
      .execute();
    return rows.map(({ rollout_id: id }) => id);
  }

  async #bytes(db: DaemonTransaction | Store<DaemonTables>["db"], rolloutId: string): Promise<number> {
    const row = await db.selectFrom("rollout").select("bytes").where("id", "=", rolloutId).executeTakeFirst();
    return row?.bytes ?? 0;
  }

  async #read(
    db: DaemonTransaction | Store<DaemonTables>["db"],
    rolloutId: string,
  ): Promise<Uint8Array | undefined> {
    const row: Pick<RolloutTable, "image" | "image_bytes"> | undefined = await db
      .selectFrom("rollout")
      .select(["image", "image_bytes"])
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
    return Buffer.concat([...image, ...chunks.map(({ data }) => data)]);
  }
}

function basesOf(files: ReadonlyMap<string, RolloutFile>): string[] {
  const bases = [...files.values()].flatMap(({ baseId }) => (baseId === null ? [] : [baseId]));
  return [...new Set(bases)].filter((id) => !files.has(id));
}
