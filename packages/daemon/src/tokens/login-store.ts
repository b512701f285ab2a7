import { randomBytes } from "node:crypto";
import type { Store } from "@codexkit/store";
import type { Scope } from "../api/route.ts";
import type { LoginCode } from "../api/token.ts";
import type { AuditLog } from "../database/audit-log.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { CODE_PREFIX } from "./redact-tokens.ts";
import { type CreatedToken, hashOf, insertToken } from "./token-store.ts";

/** Browsers keep cookies for at most 400 days. A login ends earlier if its token does. */
const LOGIN_MS = 90 * 24 * 3600 * 1000;
/** How long ended logins are still listed. */
const KEEP_ENDED_MS = 7 * 24 * 3600 * 1000;
const MAX_NAME = 128;

/**
 * Logins of browsers: tokens that end with the token from which they were created. A login code can be exchanged for a
 * login once; only its hash is stored.
 */
export class LoginStore {
  readonly #store: Store<DaemonTables>;
  readonly #audit: AuditLog;

  constructor(store: Store<DaemonTables>, audit: AuditLog) {
    this.#store = store;
    this.#audit = audit;
  }

  /** Rejects with `forbidden` if the token lacks one of the scopes. */
  async createCode(
    tokenId: string,
    { scopes, expiresInMs }: { readonly scopes?: readonly Scope[] | undefined; readonly expiresInMs: number },
  ): Promise<LoginCode> {
    const code = CODE_PREFIX + randomBytes(16).toString("base64url");
    return this.#store.db.transaction().execute(async (trx) => {
      const { now, ...token } = await this.#lockToken(trx, tokenId);
      const granted = [...new Set(scopes ?? token.scopes)];
      const missing = granted.filter((scope) => !token.scopes.includes(scope));
      if (missing.length > 0) {
        throw new DaemonError(
          "forbidden",
          `A login can't have more scopes than its token. "${token.name}" lacks: ${missing.join(", ")}.`,
        );
      }
      const expiresAt = now + expiresInMs;
      await trx
        .insertInto("login_code")
        .values({
          hash: hashOf(code),
          token_id: tokenId,
          scopes: JSON.stringify(granted),
          created_at: now,
          expires_at: expiresAt,
        })
        .execute();
      await this.#audit.record(
        {
          by: tokenId,
          action: "login_code.created",
          subject: token.rootId,
          detail: { scopes: granted, expiresAt },
        },
        trx,
      );
      return { code, expiresAt, scopes: granted };
    });
  }

  /** Exchanges a code for a login. Rejects with `unauthorized` if it is unknown, used or expired, or its token has ended. */
  async redeemCode(code: string, device?: string): Promise<CreatedToken> {
    const found = await this.#store.db
      .deleteFrom("login_code")
      .where("hash", "=", hashOf(code))
      .returning(["token_id", "scopes", "expires_at", this.#store.now.as("now")])
      .executeTakeFirst();
    if (!found || found.expires_at <= found.now) {
      throw new DaemonError("unauthorized", "The login code is unknown, used or expired. Request a new one.");
    }
    return this.create(found.token_id, { device, scopes: JSON.parse(found.scopes) as Scope[] });
  }

  /** Creates a login with the scopes of a token, or some of them. Rejects with `unauthorized` if the token has ended. */
  async create(
    tokenId: string,
    { device, scopes }: { readonly device?: string | undefined; readonly scopes?: readonly Scope[] } = {},
  ): Promise<CreatedToken> {
    return this.#store.db.transaction().execute(async (trx) => {
      const token = await this.#lockToken(trx, tokenId);
      const created = await insertToken(this.#store, trx, {
        name: loginName(token.rootName, device),
        scopes: scopes ?? token.scopes,
        expiresAt: Math.min(token.now + LOGIN_MS, token.expires_at ?? Infinity),
        parentId: token.rootId,
        tenant: token.tenant_id,
      });
      await this.#audit.record(
        {
          by: tokenId,
          action: "login.created",
          subject: created.info.id,
          detail: { name: created.info.name, scopes: created.info.scopes },
        },
        trx,
      );
      return created;
    });
  }

  /** Removes codes that have expired, and logins that ended long ago. */
  async prune(): Promise<void> {
    const { db, now } = this.#store;
    await db.deleteFrom("login_code").where("expires_at", "<", now).execute();
    await db
      .deleteFrom("token")
      .where("parent_id", "is not", null)
      .where((where) =>
        where.or([
          where(where("expires_at", "+", KEEP_ENDED_MS), "<", now),
          where(where("revoked_at", "+", KEEP_ENDED_MS), "<", now),
        ]),
      )
      .execute();
  }

  /**
   * Locks a valid token, so that a concurrent revocation waits for this transaction and finds the new login. A login
   * that is created from a login belongs to the original token, so logging out of one browser does not affect the
   * other.
   */
  async #lockToken(trx: DaemonTransaction, id: string) {
    const found = await trx.selectFrom("token").select("parent_id").where("id", "=", id).executeTakeFirst();
    const rootId = found?.parent_id ?? id;
    // Locks in the same order as a revocation: first the token, then its logins.
    const root = await this.#lockValid(trx, rootId);
    const row = rootId === id ? root : await this.#lockValid(trx, id);
    return { ...row, scopes: JSON.parse(row.scopes) as Scope[], rootId, rootName: root.name };
  }

  async #lockValid(trx: DaemonTransaction, id: string) {
    const row = await trx
      .updateTable("token")
      .set({ last_used_at: this.#store.now })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .returningAll()
      .returning(this.#store.now.as("now"))
      .executeTakeFirst();
    if (row && (row.expires_at === null || row.expires_at > row.now)) return row;
    throw new DaemonError("unauthorized", "The token is unknown, expired or revoked.");
  }
}

/** Returns a name such as `laptop (Firefox on Linux)`. */
function loginName(name: string, device = "browser"): string {
  const suffix = ` (${device})`;
  return name.slice(0, MAX_NAME - suffix.length) + suffix;
}
