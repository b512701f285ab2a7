import type { JWTPayload } from "jose";
import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { ExecError } from "../errors.ts";
import { EXEC_LIMITS } from "../limits.ts";
import type { EpochClaim } from "../session/epoch-fence.ts";
import { objectionToJson } from "../wire/json-tally.ts";

/** How clients of a WebSocket listener authenticate. */
export type WebSocketAuth =
  | { readonly mode: "capability-token"; readonly tokenSha256: string }
  | {
      readonly mode: "signed-bearer-token";
      readonly secret: string;
      readonly issuer?: string;
      readonly audience?: string;
      /** Tolerated clock difference. Default: 30. */
      readonly maxClockSkewSeconds?: number;
    };

const CLOCK_SKEW_SECONDS = 30;
const SECRET_BYTES = 32;

/** Reads a secret and trims it. The path must be absolute, so that it does not depend on where the server starts. */
export function readSecretFile(path: string, what: string): string {
  if (!isAbsolute(path))
    throw new ExecError("bad_option", `${what} expects an absolute path, but received "${path}".`);
  let secret: string;
  try {
    secret = readFileSync(path, "utf8").trim();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    throw new ExecError("bad_option", `${what}: ${path} can't be read (${code}).`, { cause });
  }
  if (secret === "") throw new ExecError("bad_option", `${what}: ${path} is empty.`);
  return secret;
}

export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Validates the settings once, before anything listens. */
export function assertAuth(auth: WebSocketAuth): void {
  if (auth.mode === "capability-token" && !/^[0-9a-f]{64}$/i.test(auth.tokenSha256)) {
    throw new ExecError("bad_option", "The token's SHA-256 must have 64 hexadecimal digits.");
  }
  if (auth.mode === "signed-bearer-token" && Buffer.byteLength(auth.secret) < SECRET_BYTES) {
    throw new ExecError("bad_option", `The shared secret must have at least ${SECRET_BYTES} bytes.`);
  }
}

/** What is known about an authenticated client. */
export interface Authorization {
  readonly claim?: EpochClaim | undefined;
}

/** Undefined if an `Authorization` header does not authenticate the client. */
export async function authorize(
  auth: WebSocketAuth,
  header: string | undefined,
  now: Date,
): Promise<Authorization | undefined> {
  const token = /^bearer +(?<token>.+)$/i.exec(header?.trim() ?? "")?.groups?.["token"]?.trim();
  if (token === undefined) return undefined;
  if (auth.mode === "signed-bearer-token") return verifySignedToken(auth, token, now);
  const expected = Buffer.from(auth.tokenSha256, "hex");
  return timingSafeEqual(Buffer.from(sha256Hex(token), "hex"), expected) ? {} : undefined;
}

/** Whether the claims of a token can be used. */
export function isEpochClaim(claim: {
  readonly subject: unknown;
  readonly epoch: unknown;
}): claim is EpochClaim {
  const { subject, epoch } = claim;
  return (
    typeof subject === "string" &&
    subject !== "" &&
    Buffer.byteLength(subject) <= EXEC_LIMITS.subjectBytes &&
    Number.isSafeInteger(epoch) &&
    (epoch as number) >= 0
  );
}

type SignedAuth = Extract<WebSocketAuth, { mode: "signed-bearer-token" }>;

async function verifySignedToken(
  auth: SignedAuth,
  token: string,
  now: Date,
): Promise<Authorization | undefined> {
  if (!isStrictToken(token)) return undefined;
  // Loaded only for servers that use it: it needs 6 MB.
  const { errors, jwtVerify } = await import("jose");
  try {
    const { payload, protectedHeader } = await jwtVerify(token, Buffer.from(auth.secret), {
      algorithms: ["HS256"],
      requiredClaims: ["exp"],
      clockTolerance: auth.maxClockSkewSeconds ?? CLOCK_SKEW_SECONDS,
      currentDate: now,
      ...(auth.issuer === undefined ? {} : { issuer: auth.issuer }),
      ...(auth.audience === undefined ? {} : { audience: auth.audience }),
    });
    return hasStrictClaims(payload) && isOptionalText(protectedHeader.typ)
      ? authorizationOf(payload)
      : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/**
 * An epoch that can't be compared is refused: without it, the token would have more rights than its issuer
 * intended.
 */
function authorizationOf({ sub, epoch }: JWTPayload): Authorization | undefined {
  if (epoch === undefined) return {};
  const claim = { subject: sub, epoch };
  return isEpochClaim(claim) ? { claim } : undefined;
}

/**
 * jose accepts padded base64 and, of two equal claims, the last one. Another verifier of the same token, such
 * as Codex's own server or a proxy, may use the first.
 */
function isStrictToken(token: string): boolean {
  const parts = token.split(".");
  if (parts.length !== 3 || !parts.every(isCanonicalBase64)) return false;
  try {
    return parts.slice(0, 2).every((part) => {
      const text = Buffer.from(part, "base64url").toString();
      return objectionToJson(text, JSON.parse(text)) === undefined;
    });
  } catch {
    return false;
  }
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

/** Also false if the last character has bits that are not part of the content. */
function isCanonicalBase64(text: string): boolean {
  return text !== "" && Buffer.from(text, "base64url").toString("base64url") === text;
}

/**
 * jose accepts fractions of seconds, a number beyond all dates, which never expires, and audiences that are
 * not text.
 */
function hasStrictClaims({ exp, nbf, aud }: JWTPayload): boolean {
  if (!Number.isSafeInteger(exp) || (nbf !== undefined && !Number.isSafeInteger(nbf))) return false;
  return aud === undefined || [aud].flat().every((each) => typeof each === "string");
}
