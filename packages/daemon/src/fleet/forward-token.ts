import { createHash, randomUUID } from "node:crypto";
import { BoundedSet } from "@codexkit/rpc/async";
import type { Store } from "@codexkit/store";
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { identity, type Identity } from "../api/token.ts";
import type { DaemonTables } from "../database/tables.ts";
import { readFleetKey } from "./fleet-key.ts";

const ALGORITHM = "HS256";
const TYPE = "codexkit-forward+jwt";
/** Both times come from the clock of the same store, rounded to seconds. */
const CLOCK_TOLERANCE_S = 1;
/** Number of used tokens to remember. Beyond it, the oldest are forgotten, even if they have not expired. */
const MAX_USED = 100_000;

/** The parts of a request that are the same for the source and the target, because no proxy in between changes them. */
export interface ForwardedRequest {
  readonly method: string;
  /** Including the query. */
  readonly path: string;
}

const claims = z.strictObject({
  iss: z.string(),
  aud: z.string(),
  iat: z.number(),
  exp: z.number(),
  jti: z.string(),
  request: z.string(),
  identity,
});

/**
 * Tokens for requests that one node forwards to another. A token names the caller with its scopes, and the request.
 */
export class ForwardTokens {
  readonly #store: Store<DaemonTables>;
  readonly #validForMs: number;
  readonly #used = new BoundedSet<string>(MAX_USED);

  constructor(store: Store<DaemonTables>, { proxyTokenMs }: { readonly proxyTokenMs: number }) {
    this.#store = store;
    this.#validForMs = proxyTokenMs;
  }

  /** Creates a token that the target accepts once, for one request of one caller. */
  async sign(
    request: ForwardedRequest,
    {
      from,
      to,
      identity: caller,
    }: { readonly from: string; readonly to: string; readonly identity: Identity },
  ): Promise<string> {
    const { secret, now } = await readFleetKey(this.#store);
    return new SignJWT({ request: hashOf(request), identity: caller })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
      .setIssuer(from)
      .setAudience(to)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(new Date(now.getTime() + this.#validForMs))
      .sign(secret);
  }

  /** Returns the caller of a request. Undefined if the token is forged, expired, already used, or meant for another node or request. */
  async verify(token: string, request: ForwardedRequest, nodeId: string): Promise<Identity | undefined> {
    const { secret, now } = await readFleetKey(this.#store);
    try {
      const { payload } = await jwtVerify(token, secret, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        audience: nodeId,
        currentDate: now,
        clockTolerance: CLOCK_TOLERANCE_S,
        maxTokenAge: this.#validForMs / 1000,
        requiredClaims: ["iss", "exp", "jti"],
      });
      const { jti, request: hash, identity: caller } = claims.parse(payload);
      if (hash !== hashOf(request) || this.#used.has(jti)) return undefined;
      this.#used.add(jti);
      return caller;
    } catch {
      return undefined;
    }
  }
}

/** Hashed to keep the token short, however long the query is. */
function hashOf({ method, path }: ForwardedRequest): string {
  return createHash("sha256").update(`${method} ${path}`).digest("base64url");
}
