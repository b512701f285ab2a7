import { randomBytes } from "node:crypto";
import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { RegistryTables } from "./tables.ts";

/** Rows of nodes whose lease ended this long ago are removed. */
const KEEP_MS = 24 * 3_600_000;

const FOREVER_MS = 100 * 365 * 24 * 3_600_000;

const LINK_SECRET = "node-link";

/** The running registries of one store, each with a lease. */
export class NodeStore {
  readonly #store: Store<RegistryTables>;
  readonly #leaseMs: number;

  constructor(store: Store<RegistryTables>, leaseMs: number) {
    this.#store = store;
    this.#leaseMs = leaseMs;
  }

  /** The only node of a SQLite store is never replaced, even if it renews late. */
  get #leaseUntil() {
    const leaseMs = this.#store.kind === "sqlite" ? FOREVER_MS : this.#leaseMs;
    return sql<number>`${this.#store.now} + ${sql.lit(leaseMs)}`;
  }

  /** Adds a node with a lease. Only one process uses a SQLite store, so the leases of earlier nodes end immediately. */
  async register(id: string, url: string): Promise<void> {
    const others = this.#store.db.deleteFrom("node");
    await (
      this.#store.kind === "sqlite"
        ? others
        : others.where("lease_until", "<", sql<number>`${this.#store.now} - ${sql.lit(KEEP_MS)}`)
    ).execute();
    await this.renew(id, url);
  }

  async renew(id: string, url: string): Promise<void> {
    const renewed = { lease_until: this.#leaseUntil };
    await this.#store.db
      .insertInto("node")
      .values({ id, url, started_at: this.#store.now, ...renewed })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(renewed))
      .execute();
  }

  /** Ends the lease of a node. Executors that are connected to it count as offline from now on. */
  async retire(id: string): Promise<void> {
    await this.#store.db.updateTable("node").set({ lease_until: 0 }).where("id", "=", id).execute();
  }

  /** Returns the IDs of the nodes that are alive. */
  async alive(): Promise<ReadonlySet<string>> {
    const rows = await this.#store.db
      .selectFrom("node")
      .select("id")
      .where("lease_until", ">", this.#store.now)
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns the key with which nodes sign tokens for each other. The first node of a store creates it. */
  async linkSecret(): Promise<Buffer> {
    await this.#store.db
      .insertInto("secret")
      .values({ name: LINK_SECRET, value: randomBytes(32).toString("base64") })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    const { value } = await this.#store.db
      .selectFrom("secret")
      .select("value")
      .where("name", "=", LINK_SECRET)
      .executeTakeFirstOrThrow();
    return Buffer.from(value, "base64");
  }
}
