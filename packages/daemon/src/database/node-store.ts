import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { DaemonError } from "../errors.ts";
import { newId } from "./ids.ts";
import type { DaemonTables, NodeRow } from "./tables.ts";

const DEFAULT_CAPACITY = 200;
const NAME_ATTEMPTS = 10;
const NAME_RETRY_MS = 200;
/** Rows of boots that ended this long ago are removed. Until then, they say where a session has been. */
const KEEP_MS = 7 * 24 * 3_600_000;

export interface NewNode {
  /** The same for every boot of this daemon, and unique among the daemons of a store. */
  readonly name: string;
  /** Where other nodes reach this one, if they can. */
  readonly url?: string;
  readonly labels?: readonly string[];
  /** Number of sessions that it owns at most. Default: 200. */
  readonly capacity?: number;
  readonly version: string;
  readonly codexVersion: string;
}

export interface RenewedLease {
  /** Whether somebody has asked the node to drain. */
  readonly isDrainRequested: boolean;
}

type Writer = Pick<Store<DaemonTables>["db"], "updateTable">;

/** Boots of daemons, each with a lease. */
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
   * Keeps other daemons from the name while this one runs. Rejects with `bad_options` if a running one has it; undefined if the one
   * that has it lost its lease. That of a killed daemon is free as soon as Postgres has seen the end of its connection.
   */
  async takeName(
    name: string,
    { attempts = NAME_ATTEMPTS }: { readonly attempts?: number } = {},
  ): Promise<AsyncDisposable | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const lock = await this.#store.lock(`node:${name}`);
      if (lock) return lock;
      const holder = (await this.list()).find((node) => node.name === name && node.isAlive);
      if (!holder) return undefined;
      if (attempt < attempts) {
        await delay(NAME_RETRY_MS);
        continue;
      }
      const { id, url, started_at: startedAt, lease_until: leaseUntil } = holder;
      const where = url === null ? "" : ` at ${url}`;
      throw new DaemonError(
        "bad_options",
        `Another daemon with the name "${name}" uses this store: node ${id}${where}, started at ${toIso(startedAt)}, with a lease until ${toIso(leaseUntil)}. Stop it, or choose another nodeName.`,
      );
    }
  }

  /** Starts a boot: a new ID with a lease. */
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
    await this.#store.db
      .deleteFrom("node")
      .where("lease_until", "<", sql<number>`${this.#store.now} - ${sql.lit(KEEP_MS)}`)
      .where("id", "not in", (select) =>
        select
          .selectFrom("session")
          .select("node_id")
          .where("node_id", "is not", null)
          .$castTo<{ node_id: string }>(),
      )
      .execute();
    return id;
  }

  /**
   * Extends the lease, also one that has ended. Resolves to undefined if the node was retired: its sessions may have other owners
   * by now.
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

  /** Ends the lease for good. Its sessions can be claimed at once. */
  async retire(nodeId: string, db: Writer = this.#store.db): Promise<void> {
    await db.updateTable("node").set({ lease_until: 0 }).where("id", "=", nodeId).execute();
  }

  /** Retires the other boots with this name. The caller holds the name, so that they have ended or will never get it back. */
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

function toIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
