import type { Store } from "@codexkit/store";
import { STORE_KINDS } from "@codexkit/store/testing";
import fc from "fast-check";
import { sql } from "kysely";
import { describe, test } from "vitest";
import { newSession, useDatabases, warning } from "../../test/database-fixture.ts";
import {
  fleetCommands,
  type FleetStore,
  ModelStore,
  type OwnedSession,
  walkFleet,
} from "../../test/fleet-model.ts";
import type { Database } from "../database.ts";
import { DaemonError } from "../errors.ts";
import { NodeStore } from "../database/node-store.ts";
import type { DaemonTables } from "../database/tables.ts";
import { claimSessions } from "../session-store/claim-sessions.ts";
import { fleetLimits } from "./limits.ts";

const NODE = { version: "0", codexVersion: "0.166.0" };

test("no two nodes act for one session during any faults, and every session is owned again afterwards", async () => {
  await fc.assert(
    fc.asyncProperty(fleetCommands(60), (commands) => walkFleet(commands, new ModelStore())),
    { numRuns: 200 },
  );
});

/** The daemon's real store, on a clock that only the test moves. */
class DatabaseStore implements FleetStore {
  readonly #database: Database;
  readonly #store: Store<DaemonTables>;
  readonly #nodes: NodeStore;

  private constructor(database: Database) {
    this.#database = database;
    this.#store = { ...database.store, now: sql<number>`(select ms from test_clock)` };
    this.#nodes = new NodeStore(this.#store, fleetLimits().leaseMs);
  }

  static async create(database: Database): Promise<DatabaseStore> {
    const { db, now } = database.store;
    await sql`create table if not exists test_clock (ms bigint)`.execute(db);
    await sql`delete from test_clock`.execute(db);
    // Ahead of the real clock, which the other tables use.
    await sql`insert into test_clock select ${now} + 3600000`.execute(db);
    for (const table of ["session", "node"] as const) await db.deleteFrom(table).execute();
    return new DatabaseStore(database);
  }

  async advance(ms: number): Promise<void> {
    await sql`update test_clock set ms = ms + ${sql.lit(ms)}`.execute(this.#store.db);
  }

  async addSession(): Promise<string> {
    const { session } = await this.#database.sessions.insert(newSession());
    return session.id;
  }

  async register(name: string): Promise<string> {
    const nodeId = await this.#nodes.register({ ...NODE, name });
    await this.#nodes.retireFormer(name, nodeId);
    return nodeId;
  }

  async renew(nodeId: string): Promise<boolean> {
    return (await this.#nodes.renew(nodeId)) !== undefined;
  }

  async ownedBy(nodeId: string): Promise<readonly string[]> {
    return this.#database.sessions.idsOwnedBy(nodeId);
  }

  async claim({
    nodeId,
    name,
    mayTakeOver,
  }: Parameters<FleetStore["claim"]>[0]): Promise<readonly OwnedSession[]> {
    const labels: string[] = [];
    const { codexVersion } = NODE;
    return claimSessions(this.#store, this.#database.journal, {
      nodeId,
      name,
      labels,
      codexVersion,
      limit: 100,
      mayTakeOver,
    });
  }

  async write(nodeId: string, { sessionId, epoch }: OwnedSession): Promise<boolean> {
    return this.#database.journal.append({ sessionId, nodeId, epoch }, [warning("alive")]).then(
      () => true,
      (error: unknown) => {
        if (DaemonError.is(error) && error.code === "fenced") return false;
        throw error;
      },
    );
  }
}

describe.each(STORE_KINDS)("the same faults on %s", (kind) => {
  const databases = useDatabases(kind);

  // Thousands of transactions, which take a while on a busy machine.
  test("have the same results as on the model", { timeout: 240_000 }, async () => {
    await using database = await databases.open();
    await fc.assert(
      fc.asyncProperty(fleetCommands(20), async (commands) =>
        walkFleet(commands, await DatabaseStore.create(database)),
      ),
      { numRuns: 2, endOnFailure: true },
    );
  });
});
