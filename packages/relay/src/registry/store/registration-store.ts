import { randomUUID } from "node:crypto";
import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { hashOfSecret, newSecret } from "./secrets.ts";
import type { RegistrationRow, RegistryTables } from "./tables.ts";
import { validTokens } from "./token-store.ts";

export interface NewRegistration {
  readonly environmentId: string;
  readonly tokenId: string;
  /** JSON that harnesses receive. */
  readonly publicKey: string;
  /** How long the ticket can be used to connect. It can be used repeatedly. */
  readonly ticketMs: number;
  /** Maximum number of the environment's registrations that are online. */
  readonly limit: number;
}

export type Registration = Pick<RegistrationRow, "id" | "environment_id" | "token_id" | "public_key">;

/** A registration whose socket is connected to a node that is alive. */
export interface OnlineRegistration extends Registration {
  readonly nodeId: string;
  readonly nodeUrl: string;
}

export interface RegisteredEnvironment {
  readonly environmentId: string;
  /** Number of connected executors. */
  readonly online: number;
  /** Milliseconds since the epoch. */
  readonly registeredAt: number;
}

/** The key of notifications about sockets of executors. */
export const REGISTRATIONS_CHANGED = "registrations";

/** Beyond this number, unconnected registrations are removed, so that one token can't fill the store. */
const REGISTRATIONS_PER_ENVIRONMENT = 64;

const COLUMNS = [
  "registration.id",
  "registration.environment_id",
  "registration.token_id",
  "registration.public_key",
] as const;

/** Registered executors, and the nodes to which they are connected. */
export class RegistrationStore {
  readonly #store: Store<RegistryTables>;

  constructor(store: Store<RegistryTables>) {
    this.#store = store;
  }

  /**
   * Adds a registration, or renews the ticket of the one with the same key and token: an executor registers again when its ticket
   * has expired, and streams of its harnesses refer to the registration. Undefined if the limit is reached.
   */
  async register(
    registration: NewRegistration,
  ): Promise<{ readonly id: string; readonly ticket: string } | undefined> {
    const { environmentId, tokenId, publicKey, ticketMs, limit } = registration;
    const ticket = newSecret("ticket");
    const renewed = {
      ticket_hash: hashOfSecret("ticket", ticket) ?? "",
      ticket_expires_at: sql<number>`${this.#store.now} + ${sql.lit(ticketMs)}`,
      registered_at: this.#nextRegistration(environmentId),
    };
    const known = await this.#store.db
      .updateTable("registration")
      .set(renewed)
      .where("environment_id", "=", environmentId)
      .where("token_id", "=", tokenId)
      .where("public_key", "=", publicKey)
      .returning("id")
      .executeTakeFirst();
    if (known) return { id: known.id, ticket };
    const online = await this.#online().where("environment_id", "=", environmentId).execute();
    if (online.length >= limit) return undefined;
    await this.#removeOldest(environmentId);
    const id = randomUUID();
    await this.#store.db
      .insertInto("registration")
      .values({
        id,
        environment_id: environmentId,
        token_id: tokenId,
        public_key: publicKey,
        ...renewed,
        node_id: null,
        connection_id: null,
        connected_at: null,
      })
      .execute();
    return { id, ticket };
  }

  /** Returns the current time, but later than all registrations of the environment, so that exactly one is the newest. */
  #nextRegistration(environmentId: string) {
    return sql<number>`(select max("at") from (
      select ${this.#store.now} as "at"
      union all select registered_at + 1 from registration where environment_id = ${environmentId}
    ) as times)`;
  }

  /** Returns the registration of a ticket. Undefined if the ticket, or the token that it was issued for, is no longer valid. */
  async findByTicket(ticket: string): Promise<Registration | undefined> {
    const hash = hashOfSecret("ticket", ticket);
    if (hash === undefined) return undefined;
    return this.#store.db
      .selectFrom("registration")
      .select([...COLUMNS])
      .where("ticket_hash", "=", hash)
      .where("ticket_expires_at", ">", this.#store.now)
      .where("token_id", "in", validTokens(this.#store))
      .executeTakeFirst();
  }

  /** Returns the newest online registration of an environment. */
  async findOnline(environmentId: string): Promise<OnlineRegistration | undefined> {
    return this.#online()
      .where("environment_id", "=", environmentId)
      .orderBy("registered_at", "desc")
      .orderBy("registration.id")
      .limit(1)
      .executeTakeFirst();
  }

  /** Returns the node to which a registration is connected. Undefined if it is not online. */
  async locate(id: string): Promise<OnlineRegistration | undefined> {
    return this.#online().where("registration.id", "=", id).executeTakeFirst();
  }

  /** Records the registration's socket. It replaces an earlier one, on any node. */
  async attach(id: string, nodeId: string, connectionId: string): Promise<void> {
    await this.#store.db
      .updateTable("registration")
      .set({ node_id: nodeId, connection_id: connectionId, connected_at: this.#store.now })
      .where("id", "=", id)
      .execute();
    this.#store.notifier.notify([REGISTRATIONS_CHANGED]);
  }

  /** Removes a closed socket. No-op if another socket has replaced it. */
  async detach(id: string, connectionId: string): Promise<void> {
    await this.#store.db
      .updateTable("registration")
      .set({ node_id: null, connection_id: null })
      .where("id", "=", id)
      .where("connection_id", "=", connectionId)
      .execute();
  }

  /** Returns those sockets at a node that are the newest of their registrations. */
  async current(nodeId: string): Promise<ReadonlySet<string>> {
    const rows = await this.#store.db
      .selectFrom("registration")
      .select("connection_id")
      .where("node_id", "=", nodeId)
      .execute();
    return new Set(rows.map(({ connection_id: id }) => id ?? ""));
  }

  async listEnvironments(): Promise<readonly RegisteredEnvironment[]> {
    return this.#store.db
      .selectFrom("registration")
      .leftJoin("node", (join) =>
        join.onRef("node.id", "=", "registration.node_id").on("node.lease_until", ">", this.#store.now),
      )
      .select(({ fn }) => [
        "environment_id as environmentId",
        fn.count<number>("node.id").as("online"),
        fn.max("registered_at").as("registeredAt"),
      ])
      .groupBy("environment_id")
      .orderBy("environment_id")
      .execute();
  }

  /** Removes registrations that are offline and can't connect again. */
  async removeStale(): Promise<void> {
    await this.#store.db
      .deleteFrom("registration")
      .where("ticket_expires_at", "<", this.#store.now)
      .where("id", "not in", this.#online().clearSelect().select("registration.id"))
      .execute();
  }

  /** Makes room for a registration. An executor whose registration was removed registers again. */
  async #removeOldest(environmentId: string): Promise<void> {
    const { db } = this.#store;
    const kept = db
      .selectFrom("registration")
      .select("id")
      .where("environment_id", "=", environmentId)
      .orderBy("registered_at", "desc")
      .limit(REGISTRATIONS_PER_ENVIRONMENT - 1);
    await db
      .deleteFrom("registration")
      .where("environment_id", "=", environmentId)
      .where("node_id", "is", null)
      .where("id", "not in", kept)
      .execute();
  }

  #online() {
    return this.#store.db
      .selectFrom("registration")
      .innerJoin("node", "node.id", "registration.node_id")
      .select([...COLUMNS, "node.id as nodeId", "node.url as nodeUrl"])
      .where("node.lease_until", ">", this.#store.now);
  }
}
