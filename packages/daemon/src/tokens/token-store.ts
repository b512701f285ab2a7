import type { TokenRow } from "../database/tables.ts";

export const TOKEN_SCOPES = ["read", "write", "approve", "admin"] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** A token as it is shown: without its hash. */
export type TokenInfo = Omit<TokenRow, "hash" | "scopes"> & { readonly scopes: readonly TokenScope[] };

export interface NewToken {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** Milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
  /** Who creates it, for the audit log. */
  readonly by: string;
}

/** Bearer tokens. Only their hashes are stored. */
export interface TokenStore {
  /** `token` is returned here only. */
  create(token: NewToken): Promise<{ readonly token: string; readonly info: TokenInfo }>;
  /** Undefined for an unknown, expired or revoked token. */
  verify(token: string): Promise<TokenInfo | undefined>;
  list(): Promise<readonly TokenInfo[]>;
  /** Resolves to false if there is no such token. */
  revoke(id: string, by: string): Promise<boolean>;
  /** Whether any token exists, also a revoked one. */
  hasAny(): Promise<boolean>;
}
