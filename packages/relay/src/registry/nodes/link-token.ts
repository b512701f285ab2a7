import { randomUUID } from "node:crypto";
import { BoundedSet } from "@codexkit/rpc/async";
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import type { HarnessIdentity } from "../rendezvous/harness-connection.ts";

const ALGORITHM = "HS256";
const AUDIENCE_PREFIX = "node:";
/** Long enough for one connection attempt. */
const VALID_FOR_S = 30;
const CLOCK_SKEW_S = 30;
/** Maximum number of used tokens that are remembered until they expire. */
const MAX_USED = 100_000;

const claims = z.strictObject({
  jti: z.string(),
  aud: z.string(),
  exp: z.number(),
  grantId: z.string(),
  environmentId: z.string(),
  registrationId: z.string(),
  tokenId: z.string(),
  harnessKeyHash: z.string(),
});

/** Creates tokens that prove to another node that this node has checked the ticket of a harness. */
export async function signLinkToken(
  secret: Uint8Array,
  nodeId: string,
  { grantId, environmentId, registrationId, tokenId, harnessKeyHash }: HarnessIdentity,
): Promise<string> {
  return new SignJWT({ grantId, environmentId, registrationId, tokenId, harnessKeyHash })
    .setProtectedHeader({ alg: ALGORITHM })
    .setJti(randomUUID())
    .setAudience(AUDIENCE_PREFIX + nodeId)
    .setExpirationTime(Math.floor(Date.now() / 1000) + VALID_FOR_S)
    .sign(secret);
}

/** Checks the tokens of other nodes. Each is valid for one connection. */
export class LinkTokenVerifier {
  readonly #secret: Uint8Array;
  readonly #nodeId: string;
  readonly #used = new BoundedSet<string>(MAX_USED);

  constructor(secret: Uint8Array, nodeId: string) {
    this.#secret = secret;
    this.#nodeId = nodeId;
  }

  /** Undefined for a token that is forged, expired, already used, or meant for another node. */
  async verify(token: string): Promise<HarnessIdentity | undefined> {
    try {
      const { payload } = await jwtVerify(token, this.#secret, {
        algorithms: [ALGORITHM],
        audience: AUDIENCE_PREFIX + this.#nodeId,
        clockTolerance: CLOCK_SKEW_S,
        requiredClaims: ["exp", "jti"],
      });
      const { jti, aud: _aud, exp: _exp, ...identity } = claims.parse(payload);
      if (this.#used.has(jti)) return undefined;
      this.#used.add(jti);
      return identity;
    } catch {
      return undefined;
    }
  }
}
