import { randomUUID } from "node:crypto";
import type { EpochClaim } from "@codexkit/exec-server";
import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { hashOfSecret, newSecret } from "./secrets.ts";
import type { GrantRow, RegistryTables } from "./tables.ts";
import { validTokens } from "./token-store.ts";

export type Grant = Pick<
  GrantRow,
  "id" | "environment_id" | "registration_id" | "token_id" | "harness_key_hash"
>;

export interface NewGrant {
  readonly environmentId: string;
  readonly registrationId: string;
  readonly tokenId: string;
  readonly harnessKeyHash: string;
  readonly validForMs: number;
}

/** An executor's query about a harness that started a handshake. */
export interface GrantCheck {
  readonly environmentId: string;
  readonly registrationId: string;
  readonly harnessKeyHash: string;
  readonly authorization: string;
  /** Empty if the executor does not report it. */
  readonly streamId: string;
}

export interface AuthorizedHarness {
  /** The claim of the harness's token. */
  readonly claim: EpochClaim | undefined;
}

/** Permissions of harnesses to connect to executors. Only hashes of their secrets are stored. */
export class GrantStore {
  readonly #store: Store<RegistryTables>;

  constructor(store: Store<RegistryTables>) {
    this.#store = store;
  }

  async create(
    grant: NewGrant,
  ): Promise<{ readonly id: string; readonly ticket: string; readonly authorization: string }> {
    const id = randomUUID();
    const ticket = newSecret("ticket");
    const authorization = newSecret("authorization");
    await this.#store.db
      .insertInto("connection_grant")
      .values({
        id,
        environment_id: grant.environmentId,
        registration_id: grant.registrationId,
        token_id: grant.tokenId,
        harness_key_hash: grant.harnessKeyHash,
        ticket_hash: hashOfSecret("ticket", ticket) ?? "",
        ticket_used_at: null,
        authorization_hash: hashOfSecret("authorization", authorization) ?? "",
        stream_id: null,
        expires_at: sql<number>`${this.#store.now} + ${sql.lit(grant.validForMs)}`,
      })
      .execute();
    return { id, ticket, authorization };
  }

  /** Uses up a ticket. Undefined if it is unknown, used or expired, or if its token is no longer valid. */
  async useTicket(ticket: string): Promise<Grant | undefined> {
    const hash = hashOfSecret("ticket", ticket);
    if (hash === undefined) return undefined;
    return this.#store.db
      .updateTable("connection_grant")
      .set({ ticket_used_at: this.#store.now })
      .where("ticket_hash", "=", hash)
      .where("ticket_used_at", "is", null)
      .where("expires_at", ">", this.#store.now)
      .where("token_id", "in", validTokens(this.#store))
      .returning(["id", "environment_id", "registration_id", "token_id", "harness_key_hash"])
      .executeTakeFirst();
  }

  /**
   * Returns the identity of a harness that may start a stream. Undefined if it may not. An authorisation is valid for one
   * stream: a handshake that is replayed with another stream ID is refused, while a repeated query about the same stream has the
   * same answer.
   */
  async check({
    environmentId,
    registrationId,
    harnessKeyHash,
    authorization,
    streamId,
  }: GrantCheck): Promise<AuthorizedHarness | undefined> {
    const hash = hashOfSecret("authorization", authorization);
    if (hash === undefined) return undefined;
    const grant = await this.#store.db
      .updateTable("connection_grant")
      .set({ stream_id: streamId })
      .where("authorization_hash", "=", hash)
      .where("environment_id", "=", environmentId)
      .where("registration_id", "=", registrationId)
      .where("harness_key_hash", "=", harnessKeyHash)
      .where("expires_at", ">", this.#store.now)
      .where((eb) => eb.or([eb("stream_id", "is", null), eb("stream_id", "=", streamId)]))
      .where("token_id", "in", validTokens(this.#store))
      .returning("token_id")
      .executeTakeFirst();
    if (!grant) return undefined;
    // Checked again, because the token may have been replaced in the meantime.
    const token = await validTokens(this.#store)
      .select(["subject", "epoch"])
      .where("token.id", "=", grant.token_id)
      .executeTakeFirst();
    if (!token) return undefined;
    const { subject, epoch } = token;
    return { claim: subject === null || epoch === null ? undefined : { subject, epoch } };
  }

  async removeExpired(): Promise<void> {
    await this.#store.db.deleteFrom("connection_grant").where("expires_at", "<", this.#store.now).execute();
  }
}
