import { type RawBuilder, sql } from "kysely";
import { type Database, openDatabase } from "../../src/database.ts";
import type { Session } from "../../src/api/session.ts";
import type { CreateSession } from "../../src/api/settings.ts";
import type { SessionRow } from "../../src/database/tables.ts";
import type { Fleet } from "./fleet.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";

const ATTEMPTS = 20;

/** Reads the store of a fleet without a proxy. Postgres only. */
export class FleetStore implements AsyncDisposable {
  readonly database: Database;
  readonly #client: FleetClient;

  private constructor(database: Database, client: FleetClient) {
    this.database = database;
    this.#client = client;
  }

  static async open(client: FleetClient): Promise<FleetStore> {
    return new FleetStore(await openDatabase(client.fleet.location), client);
  }

  get fleet(): Fleet {
    return this.#client.fleet;
  }

  /** Creates a session that this node owns. Usually the node that receives the request claims the session first. */
  async createOn(node: FleetNode, settings: Partial<CreateSession> = {}): Promise<Session> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const session = await this.#client.create(settings, node);
      if ((await this.owner(session.id)) === node) return session;
    }
    throw new Error(`Other nodes claimed ${ATTEMPTS} sessions that were created on ${node.name}.`);
  }

  async row(sessionId: string): Promise<SessionRow> {
    return this.database.sessions.require(sessionId);
  }

  /** Waits until a node owns the session. */
  async owner(sessionId: string): Promise<FleetNode> {
    return this.#client.until(`an owner of ${sessionId}`, async () => this.currentOwner(sessionId));
  }

  async currentOwner(sessionId: string): Promise<FleetNode | undefined> {
    const { node_id: nodeId } = await this.row(sessionId);
    const name = (await this.database.nodes.list()).find(({ id }) => id === nodeId)?.name;
    return this.fleet.nodes.find((node) => node.name === name);
  }

  /** Records the number of sessions of each tenant that nodes own, whenever it changes. */
  async watchTenants(): Promise<void> {
    const { db } = this.database.store;
    await sql`create table tenant_use (tenant_id text, owned bigint)`.execute(db);
    await sql`create function record_tenant_use() returns trigger language plpgsql as $$ begin
      insert into tenant_use select new.tenant_id, count(*) from session where tenant_id = new.tenant_id and node_id is not null;
      return new;
    end $$`.execute(db);
    await sql`create trigger record_tenant_use after update of node_id on session
      for each row execute function record_tenant_use()`.execute(db);
  }

  /** The largest number of sessions of a tenant that nodes have owned at the same time since `watchTenants`. */
  async mostOwned(tenant: string): Promise<number> {
    const { db } = this.database.store;
    const { rows } = await sql<{ most: number }>`
      select max(owned) as most from tenant_use where tenant_id = ${tenant}`.execute(db);
    return rows[0]?.most ?? 0;
  }

  /** Ends the lease of a killed node now, instead of waiting until it has passed. */
  async endLease({ name }: FleetNode): Promise<void> {
    await this.database.store.db
      .updateTable("node")
      .set({ lease_until: 1 })
      .where("name", "=", name)
      .execute();
  }

  /** Moves all times of an approval and its session into the past, as if so much time had passed since. */
  async shift(sessionId: string, ms: number): Promise<void> {
    const { db } = this.database.store;
    const earlier = <Column extends string>(...columns: readonly Column[]) =>
      Object.fromEntries(
        columns.map((column) => [column, sql`${sql.ref(column)} - ${sql.lit(ms)}`]),
      ) as Record<Column, RawBuilder<number>>;
    const approval = earlier("created_at", "updated_at", "expires_at", "parked_at");
    await db.updateTable("approval").set(approval).where("session_id", "=", sessionId).execute();
    const session = earlier("created_at", "updated_at", "ready_at");
    await db.updateTable("session").set(session).where("id", "=", sessionId).execute();
    await db.updateTable("event").set(earlier("at")).where("session_id", "=", sessionId).execute();
    await db.updateTable("turn").set(earlier("started_at")).where("session_id", "=", sessionId).execute();
  }

  /** When the lease of a node ends, on the clock of the store. */
  async leaseUntil({ name }: FleetNode): Promise<number> {
    return (await this.database.nodes.list()).find((node) => node.name === name)?.lease_until ?? 0;
  }

  /** Waits until other nodes own the sessions. A session without work may keep an owner that is lost. */
  async takenFrom(node: FleetNode, sessionIds: readonly string[]): Promise<void> {
    await Promise.all(
      sessionIds.map((id) =>
        this.#client.until(`an owner of ${id} other than ${node.name}`, async () => {
          const { ready_at: readyAt } = await this.row(id);
          const owner = await this.currentOwner(id);
          return readyAt === null || (owner && owner !== node) ? true : undefined;
        }),
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.close();
  }
}
