import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { DaemonError } from "../errors.ts";
import { newId } from "./ids.ts";
import type { DaemonTables, NodeRow } from "./tables.ts";

const DEFAULT_CAPACITY = 200;
const NAME_ATTEMPTS = 10;
const NAME_RETRY_MS = 200;
/** How long to wait for the lease of an earlier boot to expire, as a multiple of the lease duration. */
const NAME_WAIT = 2;
/** Rows of boots that ended this long ago are removed. Until then, they show where a session was running. */
const KEEP_MS = 7 * 24 * 3_600_000;

export interface NewNode {
  /** The same for every boot of this daemon, and unique among the daemons of a store. */
  readonly name: string;
  /** URL at which other nodes reach this node, if they can. */
  readonly url?: string;
  readonly labels?: readonly string[];
  /** Maximum number of sessions that it owns. Default: 200. */
  readonly capacity?: number;
  readonly version: string;
  readonly codexVersion: string;
}

export interface RenewedLease {
  /** Whether a client has requested that the node drains. */
  readonly isDrainRequested: boolean;
}

export interface TakeNameOptions {
  /** Maximum number of attempts to acquire the lock. Default: 10. */
  readonly attempts?: number;
  /** ID of the earlier boot on this machine. It has ended, so its lease is not waited for. */
  readonly formerId?: string | undefined;
  /** Called if the lease of another boot must expire first. */
  readonly onWait?: (nodeId: string) => void;
}

type Writer = Pick<Store<DaemonTables>["db"], "updateTable">;

/** Stores the boots of daemons, each with a lease. */
export class NodeStore {
  readonly #store: Store<DaemonTables>;
  readonly #leaseMs: number;

  constructor(store: Store<DaemonTables>, leaseMs: number) {
    this.#store = store;
    this.#leaseMs = leaseMs;
  }

  get #leaseUntil() {
    return sql<number>`${this.#store.now} + ${sql.lit(this.#leaseMs)}`;
  }

  /**
   * Reserves the name, so that no other daemon can use it while this one is running. Rejects with `bad_options` if a
   * running daemon has it. The returned lock is undefined if its holder has lost its lease. The lock of a killed daemon
   * is released when Postgres detects the end of its connection. A daemon that has only lost its connection may keep
   * writing until its lease expires, so the call waits for that, unless the earlier boot is `formerId`.
   */
  async takeName(
    name: string,
    { attempts = NAME_ATTEMPTS, formerId, onWait }: TakeNameOptions = {},
  ): Promise<AsyncDisposable | undefined> {
    const lock = await this.#lockName(name, attempts);
    try {
      await this.#retireAll(name, formerId, onWait);
    } catch (error) {
      await lock?.[Symbol.asyncDispose]();
      throw error;
    }
    return lock;
  }

  async #lockName(name: string, attempts: number): Promise<AsyncDisposable | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const lock = await this.#store.lock(`node:${name}`);
      if (lock) return lock;
      const holder = await this.#findAlive(name);
      if (!holder) return undefined;
      if (attempt >= attempts) throw nameInUse(holder);
      await delay(NAME_RETRY_MS);
    }
  }

  /** Retires all boots with this name as soon as their leases have expired. */
  async #retireAll(name: string, formerId = "", onWait?: TakeNameOptions["onWait"]): Promise<void> {
    const until = performance.now() + this.#leaseMs * NAME_WAIT;
    let isWaiting = false;
    for (;;) {
      await this.#store.db
        .updateTable("node")
        .set({ lease_until: 0 })
        .where("name", "=", name)
        .where("lease_until", ">", 0)
        // A SQLite folder has only one daemon, so all other boots have ended.
        .$if(this.#store.kind === "postgres", (boots) =>
          boots.where((where) =>
            where.or([where("lease_until", "<=", this.#store.now), where("id", "=", formerId)]),
          ),
        )
        .execute();
      const holder = await this.#findAlive(name);
      if (!holder) return;
      // The other boot has reconnected to the store and renews its lease.
      if (performance.now() > until) throw nameInUse(holder);
      if (!isWaiting) onWait?.(holder.id);
      isWaiting = true;
      await delay(NAME_RETRY_MS);
    }
  }

  async #findAlive(name: string): Promise<NodeRow | undefined> {
    return (await this.list()).find((node) => node.name === name && node.isAlive);
  }

  /** Registers a boot with a new ID and a lease. */
  async register(node: NewNode): Promise<string> {
    const id = newId();
    await this.#store.db
      .insertInto("node")
      .values({
        id,
        name: node.name,
        url: node.url ?? null,
        labels: JSON.stringify(node.labels ?? []),
        capacity: node.capacity ?? DEFAULT_CAPACITY,
        state: "up",
        lease_until: this.#leaseUntil,
        version: node.version,
        codex_version: node.codexVersion,
        started_at: this.#store.now,
      })
      .execute();
    await this.#deleteFormer();
    return id;
  }

  /**
   * Deletes boots that ended long ago or were retired, except those that own sessions, and the newest boot of each node that
   * sessions are pinned to, because such a node must be known to be removed.
   */
  async #deleteFormer(): Promise<void> {
    const { db, now } = this.#store;
    await db
      .deleteFrom("node")
      .where("lease_until", "<", sql<number>`${now} - ${sql.lit(KEEP_MS)}`)
      .where((where) =>
        where.not(where.exists(where.selectFrom("session").select("id").whereRef("node_id", "=", "node.id"))),
      )
      .where((where) =>
        where.or([
          where.exists(
            where
              .selectFrom("node as newer")
              .select("newer.id")
              .whereRef("newer.name", "=", "node.name")
              .whereRef("newer.id", ">", "node.id"),
          ),
          where.not(
            where.exists(
              where
                .selectFrom("session")
                .select("session.id")
                .where("phase", "<>", "deleted")
                .where(sql<boolean>`needs like '%"node:' || node.name || '"%'`),
            ),
          ),
        ]),
      )
      .execute();
  }

  /**
   * Extends the lease, even if it has expired. Resolves to undefined if the node was retired, because its sessions may
   * have other owners by now.
   */
  async renew(
    nodeId: string,
    changes: { readonly state?: "up" | "draining"; readonly turns?: number } = {},
    db: Writer = this.#store.db,
  ): Promise<RenewedLease | undefined> {
    const row = await db
      .updateTable("node")
      .set({ lease_until: this.#leaseUntil, ...changes })
      .where("id", "=", nodeId)
      .where("lease_until", ">", 0)
      .returning("drain_requested")
      .executeTakeFirst();
    return row && { isDrainRequested: row.drain_requested !== 0 };
  }

  /** Ends the lease permanently. Its sessions can be claimed immediately. */
  async retire(nodeId: string, db: Writer = this.#store.db): Promise<void> {
    await db.updateTable("node").set({ lease_until: 0 }).where("id", "=", nodeId).execute();
  }

  /**
   * Retires the other boots with this name. The caller holds the name, so the others have ended or can't get it back.
   */
  async retireFormer(name: string, nodeId: string): Promise<void> {
    await this.#store.db
      .updateTable("node")
      .set({ lease_until: 0 })
      .where("name", "=", name)
      .where("id", "<>", nodeId)
      .where("lease_until", ">", 0)
      .execute();
  }

  async list(): Promise<readonly (NodeRow & { readonly isAlive: boolean })[]> {
    const rows = await this.#store.db
      .selectFrom("node")
      .selectAll()
      .select(this.#store.now.as("now"))
      .orderBy("started_at", "desc")
      .execute();
    return rows.map(({ now, ...row }) => ({ ...row, isAlive: row.lease_until > now }));
  }
}

function nameInUse({ id, name, url, started_at: startedAt, lease_until: leaseUntil }: NodeRow): DaemonError {
  const where = url === null ? "" : ` at ${url}`;
  return new DaemonError(
    "bad_options",
    `Another daemon with the name "${name}" uses this store: node ${id}${where}, started at ${toIso(startedAt)}, with a lease until ${toIso(leaseUntil)}. Stop it, or choose another nodeName.`,
  );
}

function toIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
