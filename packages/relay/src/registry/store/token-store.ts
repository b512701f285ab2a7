import { randomUUID } from "node:crypto";
import type { EpochClaim } from "@codexkit/exec-server";
import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { RelayError } from "../../errors.ts";
import { epochClaim } from "./epoch-claim.ts";
import { hashOfSecret, newSecret } from "./secrets.ts";
import type { RegistryTables, TokenRow } from "./tables.ts";

/**
 * The permission of a token: `execute` to register an executor and to check harness keys, `connect` to connect to an executor,
 * `admin` to manage tokens and list environments, `metrics` to read metrics.
 */
export type RegistryScope = "execute" | "connect" | "admin" | "metrics";

export const REGISTRY_SCOPES: readonly RegistryScope[] = ["execute", "connect", "admin", "metrics"];

/** A token without its hash. Times are milliseconds since the epoch. */
export interface RegistryTokenInfo {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly RegistryScope[];
  /** Null for all environments. */
  readonly environmentId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
  readonly claim: EpochClaim | null;
  /** The epoch of the token that has replaced this one, for the same subject. A replaced token is no longer valid. */
  readonly replacedBy: number | null;
}

export interface NewRegistryToken {
  readonly name: string;
  readonly scopes: readonly RegistryScope[];
  /** Default: all environments. */
  readonly environmentId?: string | undefined;
  /** How long the token is valid, in milliseconds. Default: until it is revoked. */
  readonly validForMs?: number | undefined;
  /**
   * The subject on whose behalf a harness connects, and its epoch. The token replaces those of the same environment and subject
   * with lower epochs. Only for tokens of one environment whose only scope is `connect`.
   */
  readonly claim?: EpochClaim | undefined;
}

/** The key of notifications about tokens. */
export const TOKENS_CHANGED = "tokens";

/** Minimum interval between writes of a token's time of use. */
const USE_RESOLUTION_MS = 60_000;

/** SQLite allows 32,766 parameters of a query, Postgres 65,535. */
const IDS_PER_QUERY = 10_000;

/** How long an invalid token with an epoch is kept after its creation, so that requests with it receive a clear error. */
const REPLACED_TOKEN_MS = 24 * 3600_000;

/** Bearer tokens. Only their hashes are stored. */
export class TokenStore {
  readonly #store: Store<RegistryTables>;

  constructor(store: Store<RegistryTables>) {
    this.#store = store;
  }

  /**
   * Creates a token. The token itself is returned only here. It is a new secret unless the caller passes one. Rejects with
   * `replaced` if a token with a higher epoch exists.
   */
  async create(
    { name, scopes, environmentId, validForMs, claim }: NewRegistryToken,
    token = newSecret("token"),
  ): Promise<{ readonly token: string; readonly info: RegistryTokenInfo }> {
    if (claim && (environmentId === undefined || scopes.some((scope) => scope !== "connect"))) {
      throw new RelayError(
        "bad_option",
        'A token with an epoch needs an environment, and "connect" as its only scope.',
      );
    }
    if (claim && !epochClaim.safeParse(claim).success) {
      throw new RelayError(
        "bad_option",
        "claim expects a subject of 1 to 256 bytes, and an epoch that is an integer from 0 to 2^53 - 1.",
      );
    }
    const { now } = await this.#clock();
    const row = await this.#store.db
      .insertInto("token")
      .values({
        id: randomUUID(),
        name,
        hash: hashOfSecret("token", token) ?? "",
        scopes: JSON.stringify(scopes),
        environment_id: environmentId ?? null,
        created_at: now,
        expires_at: validForMs === undefined ? null : now + validForMs,
        revoked_at: null,
        last_used_at: null,
        subject: claim?.subject ?? null,
        epoch: claim?.epoch ?? null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await this.#writeToDisk();
    if (!claim) return { token, info: toInfo({ ...row, replaced_by: null }) };
    const info = await this.#read(row.id);
    if (info.replacedBy !== null) {
      await this.#store.db.deleteFrom("token").where("id", "=", row.id).execute();
      throw new RelayError(
        "replaced",
        `Epoch ${claim.epoch} of this subject has been replaced by epoch ${info.replacedBy}.`,
      );
    }
    // Nodes close the sockets of the tokens that this one replaces.
    this.#store.notifier.notify([TOKENS_CHANGED]);
    return { token, info };
  }

  async #read(id: string): Promise<RegistryTokenInfo> {
    const { db } = this.#store;
    const row = await db
      .selectFrom("token")
      .selectAll()
      .select(replacedBy)
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    return toInfo(row);
  }

  /** Looks up a token. Undefined if it is unknown, expired or revoked. A replaced token has `replacedBy`. */
  async verify(token: string): Promise<RegistryTokenInfo | undefined> {
    const hash = hashOfSecret("token", token);
    if (hash === undefined) return undefined;
    const found = await this.#store.db
      .selectFrom("token")
      .selectAll()
      .select([this.#store.now.as("now"), replacedBy])
      .where("hash", "=", hash)
      .executeTakeFirst();
    if (!found) return undefined;
    const { now, ...row } = found;
    if (row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= now)) return undefined;
    if (row.last_used_at === null || row.last_used_at + USE_RESOLUTION_MS < now) {
      await this.#store.db.updateTable("token").set({ last_used_at: now }).where("id", "=", row.id).execute();
      row.last_used_at = now;
    }
    return toInfo(row);
  }

  async list(): Promise<readonly RegistryTokenInfo[]> {
    const { db } = this.#store;
    const rows = await db.selectFrom("token").selectAll().select(replacedBy).orderBy("created_at").execute();
    return rows.map(toInfo);
  }

  /** Revokes a token. Resolves to false if it does not exist or was already revoked. */
  async revoke(id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#store.db
      .updateTable("token")
      .set({ revoked_at: this.#store.now })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await this.#writeToDisk();
    this.#store.notifier.notify([TOKENS_CHANGED]);
    return true;
  }

  /** Returns those of the given tokens that are valid. */
  async valid(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const valid = new Set<string>();
    for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
      const rows = await validTokens(this.#store)
        .where("token.id", "in", ids.slice(start, start + IDS_PER_QUERY))
        .execute();
      for (const { id } of rows) valid.add(id);
    }
    return valid;
  }

  /** Removes tokens with an epoch that became invalid long ago. All other tokens are kept for lists. */
  async removeReplaced(): Promise<void> {
    const { db, now } = this.#store;
    await db
      .deleteFrom("token")
      .where("subject", "is not", null)
      .where("created_at", "<", sql<number>`${now} - ${sql.lit(REPLACED_TOKEN_MS)}`)
      .where("id", "not in", validTokens(this.#store))
      .execute();
  }

  /** Whether any token exists, including revoked ones. */
  async hasAny(): Promise<boolean> {
    return (await this.#store.db.selectFrom("token").select("id").limit(1).executeTakeFirst()) !== undefined;
  }

  /**
   * Writes changes to the disk, so that a power failure neither loses a new token nor restores a revoked one. Postgres does this
   * itself.
   */
  async #writeToDisk(): Promise<void> {
    if (this.#store.kind === "sqlite") await sql`pragma wal_checkpoint(full)`.execute(this.#store.db);
  }

  async #clock(): Promise<{ readonly now: number }> {
    return this.#store.db.selectNoFrom(this.#store.now.as("now")).executeTakeFirstOrThrow();
  }
}

/**
 * Selects the highest epoch that has replaced a token's epoch. It is looked up whenever a token is checked instead of being
 * written to the replaced tokens, because two tokens that are created concurrently may not see each other's rows.
 */
const replacingEpoch = sql<number | null>`(
  select max(newer.epoch) from token as newer
  where newer.environment_id = token.environment_id and newer.subject = token.subject and newer.epoch > token.epoch
)`;

const replacedBy = replacingEpoch.as("replaced_by");

/** Selects the IDs of the tokens that are neither revoked, nor expired, nor replaced. */
export function validTokens({ db, now }: Store<RegistryTables>) {
  return db
    .selectFrom("token")
    .select("token.id")
    .where("token.revoked_at", "is", null)
    .where((eb) => eb.or([eb("token.expires_at", "is", null), eb("token.expires_at", ">", now)]))
    .where(sql<boolean>`${replacingEpoch} is null`);
}

function toInfo(row: TokenRow & { readonly replaced_by: number | null }): RegistryTokenInfo {
  return {
    id: row.id,
    name: row.name,
    scopes: JSON.parse(row.scopes) as RegistryScope[],
    environmentId: row.environment_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    claim: row.subject === null || row.epoch === null ? null : { subject: row.subject, epoch: row.epoch },
    replacedBy: row.replaced_by,
  };
}
