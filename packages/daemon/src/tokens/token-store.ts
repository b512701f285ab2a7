import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Store } from "@codexkit/store";
import type { Scope } from "../api/route.ts";
import type { AuditLog } from "../database/audit-log.ts";
import { newId } from "../database/ids.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables, TokenRow } from "../database/tables.ts";
import { TOKEN_PREFIX } from "./redact-tokens.ts";
import { TokenWatch } from "./token-watch.ts";

/** The time of last use is written at most once per this interval, not per request. */
const USE_RESOLUTION_MS = 60_000;

/** A token without its hash. */
export type TokenInfo = Omit<TokenRow, "hash" | "scopes"> & { readonly scopes: readonly Scope[] };

export interface NewToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
  /** The tenant of the sessions that are created with the token. Default: `default`. */
  readonly tenant?: string;
  /** ID of the creator, for the audit log. */
  readonly by: string;
}

/** A new token with its metadata, which can be listed later. */
export interface CreatedToken {
  readonly token: string;
  readonly info: TokenInfo;
}

/**
 * Creates, verifies and revokes bearer tokens. Only hashes are stored. Tokens are random, so a plain hash can't be reversed by
 * guessing.
 */
export class TokenStore {
  readonly #store: Store<DaemonTables>;
  readonly #audit: AuditLog;
  readonly #watches = new Map<string, TokenWatch>();

  constructor(store: Store<DaemonTables>, audit: AuditLog) {
    this.#store = store;
    this.#audit = audit;
  }

  /** Creates a token. Only this call returns the token itself. */
  async create({ name, scopes, expiresAt, tenant, by }: NewToken): Promise<CreatedToken> {
    return this.#store.db.transaction().execute(async (trx) => {
      const created = await insertToken(this.#store, trx, { name, scopes, expiresAt, tenant });
      await this.#audit.record(
        {
          by,
          action: "token.created",
          subject: created.info.id,
          detail: { name, scopes, ...(tenant !== undefined && { tenant }) },
        },
        trx,
      );
      return created;
    });
  }

  /** Verifies a token. Undefined if it is unknown, expired or revoked. */
  async verify(token: string): Promise<TokenInfo | undefined> {
    const hash = hashOf(token);
    const found = await this.#store.db
      .selectFrom("token")
      .selectAll()
      .select(this.#store.now.as("now"))
      .where("hash", "=", hash)
      .executeTakeFirst();
    if (!found || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return undefined;
    const { now, ...row } = found;
    if (row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= now)) return undefined;
    if (row.last_used_at === null || row.last_used_at + USE_RESOLUTION_MS < now) {
      await this.#store.db.updateTable("token").set({ last_used_at: now }).where("id", "=", row.id).execute();
      row.last_used_at = now;
    }
    return toInfo(row);
  }

  async list(): Promise<readonly TokenInfo[]> {
    const rows = await this.#store.db.selectFrom("token").selectAll().orderBy("id").execute();
    return rows.map(toInfo);
  }

  /**
   * Revokes a token, and ends the logins that were created with it. Resolves to false if the token does not exist or was already
   * revoked.
   */
  async revoke(id: string, by: string): Promise<boolean> {
    const revoked = await this.#store.db.transaction().execute(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable("token")
        .set({ revoked_at: this.#store.now })
        .where("id", "=", id)
        .where("revoked_at", "is", null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return [];
      await trx.deleteFrom("login_code").where("token_id", "=", id).execute();
      const logins = await trx
        .updateTable("token")
        .set({ revoked_at: this.#store.now })
        .where("parent_id", "=", id)
        .where("revoked_at", "is", null)
        .returning("id")
        .execute();
      await this.#audit.record({ by, action: "token.revoked", subject: id }, trx);
      return [id, ...logins.map((login) => login.id)];
    });
    this.#store.notifier.notify(revoked.map((each) => notificationKeys.token(each)));
    return revoked.length > 0;
  }

  /** Calls `onInvalid` once, when the token is revoked or expires, until the result is disposed. */
  watch(id: string, onInvalid: () => void): Disposable {
    let watch = this.#watches.get(id);
    if (!watch) {
      watch = new TokenWatch(this.#store, id, () => this.#watches.delete(id));
      this.#watches.set(id, watch);
    }
    return watch.add(onInvalid);
  }

  /** Whether any token exists, including revoked ones. */
  async hasAny(): Promise<boolean> {
    return (await this.#store.db.selectFrom("token").select("id").limit(1).executeTakeFirst()) !== undefined;
  }
}

/** Inserts the row of a new token. */
export async function insertToken(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  {
    name,
    scopes,
    expiresAt,
    parentId,
    tenant,
  }: Pick<NewToken, "name" | "scopes"> & {
    readonly expiresAt?: number | undefined;
    readonly tenant?: string | null | undefined;
    readonly parentId?: string;
  },
): Promise<CreatedToken> {
  const token = TOKEN_PREFIX + randomBytes(32).toString("base64url");
  const row = await trx
    .insertInto("token")
    .values({
      id: newId(),
      name,
      hash: hashOf(token),
      scopes: JSON.stringify(scopes),
      created_at: store.now,
      expires_at: expiresAt ?? null,
      revoked_at: null,
      last_used_at: null,
      parent_id: parentId ?? null,
      tenant_id: tenant ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { token, info: toInfo(row) };
}

/** Hashes a token or login code. They are random, so a plain hash can't be reversed by guessing. */
export function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function toInfo({ hash: _hash, scopes, ...row }: TokenRow): TokenInfo {
  return { ...row, scopes: JSON.parse(scopes) as Scope[] };
}
