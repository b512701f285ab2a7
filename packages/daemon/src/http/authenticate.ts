import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { SCOPES, type Scope } from "../api/route.ts";
import type { Identity } from "../api/token.ts";
import { DaemonError } from "../errors.ts";
import { DEFAULT_TENANT } from "../session-store/new-session-row.ts";
import type { TokenInfo, TokenStore } from "../tokens/token-store.ts";

export const TOKEN_COOKIE = "codexkit_token";

/** The identity of every request if the daemon runs without tokens. */
const LOCAL: Identity = { id: "local", name: "local", scopes: [...SCOPES], tenant: DEFAULT_TENANT };

export interface Authentication {
  readonly auth: "tokens" | "none";
  readonly tokens: Pick<TokenStore, "verify">;
}

/** Returns the identity of a request's token. Rejects with `unauthorized`. */
export async function authenticate(context: Context, { auth, tokens }: Authentication): Promise<Identity> {
  if (auth === "none") return LOCAL;
  const token = readToken(context);
  if (token === undefined) {
    throw new DaemonError("unauthorized", "Send a token as `Authorization: Bearer <token>`, or log in.");
  }
  return verifyToken(token, tokens);
}

export async function verifyToken(token: string, tokens: Pick<TokenStore, "verify">): Promise<Identity> {
  const info = await tokens.verify(token);
  if (!info) throw new DaemonError("unauthorized", "The token is unknown, expired or revoked.");
  return toIdentity(info);
}

export function toIdentity({ id, name, scopes, tenant_id: tenant }: TokenInfo): Identity {
  return { id, name, scopes: [...scopes], tenant: tenant ?? DEFAULT_TENANT };
}

export function requireScope({ scopes, name }: Identity, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new DaemonError(
    "forbidden",
    `This operation requires the scope "${scope}". The token "${name}" has: ${scopes.join(", ")}.`,
  );
}

function readToken(context: Context): string | undefined {
  const header = context.req.header("authorization");
  if (header !== undefined) return /^Bearer +(\S+)$/i.exec(header)?.[1];
  return getCookie(context, TOKEN_COOKIE);
}
