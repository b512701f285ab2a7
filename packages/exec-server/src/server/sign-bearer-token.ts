import { ExecError } from "../errors.ts";
import type { EpochClaim } from "../session/epoch-fence.ts";
import { assertAuth, isEpochClaim } from "./ws-auth.ts";

export interface SignBearerTokenOptions {
  /** The secret of a server with the auth mode `signed-bearer-token`. */
  readonly secret: string;
  readonly validForMs: number;
  /** Disconnects the connections of the same subject with lower epochs. */
  readonly claim?: EpochClaim;
  readonly issuer?: string;
  readonly audience?: string;
}

/**
 * Signs a token for a server with the auth mode `signed-bearer-token`.
 *
 * @example
 * const token = await signBearerToken({
 *   secret: "a secret of at least thirty-two bytes",
 *   validForMs: 3_600_000,
 *   claim: { subject: "session-1", epoch: 2 },
 * });
 */
export async function signBearerToken(options: SignBearerTokenOptions): Promise<string> {
  const { secret, validForMs, claim, issuer, audience } = options;
  assertAuth({ mode: "signed-bearer-token", secret });
  const expires = Math.ceil((Date.now() + validForMs) / 1000);
  if (!Number.isSafeInteger(expires) || validForMs <= 0)
    throw new ExecError("bad_option", `validForMs expects a positive number, but received ${validForMs}.`);
  if (claim && !isEpochClaim(claim)) {
    throw new ExecError(
      "bad_option",
      "claim expects a subject of 1 to 256 bytes, and an epoch that is an integer from 0 to 2^53 - 1.",
    );
  }
  const { SignJWT } = await import("jose");
  const token = new SignJWT(claim ? { sub: claim.subject, epoch: claim.epoch } : {})
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(expires);
  if (issuer !== undefined) token.setIssuer(issuer);
  if (audience !== undefined) token.setAudience(audience);
  return token.sign(Buffer.from(secret));
}
