import { type Database, openDatabase } from "../../src/database.ts";
import type { SessionRow } from "../../src/database/tables.ts";
import type { Fleet } from "./fleet.ts";
import type { FleetClient } from "./fleet-client.ts";
import type { FleetNode } from "./fleet-node.ts";

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
