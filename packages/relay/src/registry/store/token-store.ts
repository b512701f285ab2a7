import { randomUUID } from "node:crypto";
import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { hashOfSecret, newSecret } from "./secrets.ts";
import type { RegistryTables, TokenRow } from "./tables.ts";

/**
 * What a token allows: `execute` to register an executor and to check harness keys, `connect` to reach an executor, `admin`
 * to manage tokens and list environments, `metrics` to read metrics.
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
}

export interface NewRegistryToken {
  readonly name: string;
  readonly scopes: readonly RegistryScope[];
  /** Default: all environments. */
  readonly environmentId?: string | undefined;
  /** How long it is valid, in milliseconds. Default: until it is revoked. */
  readonly validForMs?: number | undefined;
}

/** The key of notifications about tokens. */
export const TOKENS_CHANGED = "tokens";

/** The time of use is written once per this time, not per request. */
const USE_RESOLUTION_MS = 60_000;

/** SQLite allows 32,766 parameters of a query, Postgres 65,535. */
const IDS_PER_QUERY = 10_000;

/** Bearer tokens. Only their hashes are stored. */
export class TokenStore {
  readonly #store: Store<RegistryTables>;

  constructor(store: Store<RegistryTables>) {
    this.#store = store;
  }

  /** The token itself is returned here only. It is a new secret unless the caller has made one. */
  async create(
    { name, scopes, environmentId, validForMs }: NewRegistryToken,
    token = newSecret("token"),
  ): Promise<{ readonly token: string; readonly info: RegistryTokenInfo }> {
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
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await this.#writeToDisk();
    return { token, info: toInfo(row) };
  }

  /** Undefined for an unknown, expired or revoked token. */
  async verify(token: string): Promise<RegistryTokenInfo | undefined> {
    const hash = hashOfSecret("token", token);
    if (hash === undefined) return undefined;
    const found = await this.#store.db
      .selectFrom("token")
      .selectAll()
      .select(this.#store.now.as("now"))
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
    const rows = await this.#store.db.selectFrom("token").selectAll().orderBy("created_at").execute();
    return rows.map(toInfo);
  }

  /** Resolves to false if there is no such token, or if it has been revoked before. */
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

  /** Those of the given tokens that are valid now. */
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

  /** Whether any token exists, also a revoked one. */
  async hasAny(): Promise<boolean> {
    return (await this.#store.db.selectFrom("token").select("id").limit(1).executeTakeFirst()) !== undefined;
  }

  /** So that a new token is not lost, and a revoked one does not return, after a power failure. Postgres does it by itself. */
  async #writeToDisk(): Promise<void> {
    if (this.#store.kind === "sqlite") await sql`pragma wal_checkpoint(full)`.execute(this.#store.db);
  }

  async #clock(): Promise<{ readonly now: number }> {
    return this.#store.db.selectNoFrom(this.#store.now.as("now")).executeTakeFirstOrThrow();
  }
}

/** Selects the IDs of the tokens that are neither revoked nor expired. */
export function validTokens({ db, now }: Store<RegistryTables>) {
  return db
    .selectFrom("token")
    .select("token.id")
    .where("token.revoked_at", "is", null)
    .where((eb) => eb.or([eb("token.expires_at", "is", null), eb("token.expires_at", ">", now)]));
}

function toInfo(row: TokenRow): RegistryTokenInfo {
  return {
    id: row.id,
    name: row.name,
    scopes: JSON.parse(row.scopes) as RegistryScope[],
    environmentId: row.environment_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
