import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import * as z from "zod";
import { ExecError } from "../errors.ts";

/** How clients of a WebSocket listener prove who they are. */
export type WebSocketAuth =
  | { readonly mode: "capability-token"; readonly tokenSha256: string }
  | {
      readonly mode: "signed-bearer-token";
      readonly secret: string;
      readonly issuer?: string;
      readonly audience?: string;
      /** How far apart clocks may be. Default 30. */
      readonly maxClockSkewSeconds?: number;
    };

const CLOCK_SKEW_SECONDS = 30;
const SECRET_BYTES = 32;

/** A trimmed secret from a file; the path must be absolute, so that it does not depend on where the server starts. */
export function readSecretFile(path: string, what: string): string {
  if (!isAbsolute(path)) throw new ExecError("bad_option", `${what} must be an absolute path, not ${path}`);
  let secret: string;
  try {
    secret = readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new ExecError("bad_option", `${what} can't be read: ${path}`, { cause });
  }
  if (secret === "") throw new ExecError("bad_option", `${what} is empty: ${path}`);
  return secret;
}

export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Checks an auth object once, before anything listens. */
export function assertAuth(auth: WebSocketAuth): void {
  if (auth.mode === "capability-token" && !/^[0-9a-f]{64}$/i.test(auth.tokenSha256)) {
    throw new ExecError("bad_option", "the token's SHA-256 must be 64 hexadecimal digits");
  }
  if (auth.mode === "signed-bearer-token" && Buffer.byteLength(auth.secret) < SECRET_BYTES) {
    throw new ExecError("bad_option", `the shared secret must have at least ${SECRET_BYTES} bytes`);
  }
}

/** Whether an `Authorization` header lets its bearer in. */
export function isAuthorized(auth: WebSocketAuth, header: string | undefined, nowSeconds: number): boolean {
  const token = /^bearer\s+(?<token>.+)$/i.exec(header?.trim() ?? "")?.groups?.["token"]?.trim();
  if (token === undefined) return false;
  if (auth.mode === "signed-bearer-token") return isSignedWell(auth, token, nowSeconds);
  return equal(Buffer.from(sha256Hex(token), "hex"), Buffer.from(auth.tokenSha256, "hex"));
}

const jwtHeader = z.object({ alg: z.literal("HS256") });
const jwtClaims = z.object({
  exp: z.number().int(),
  nbf: z.number().int().optional(),
  iss: z.string().optional(),
  aud: z.union([z.string(), z.array(z.string())]).optional(),
});

type SignedAuth = Extract<WebSocketAuth, { mode: "signed-bearer-token" }>;

function isSignedWell(auth: SignedAuth, token: string, now: number): boolean {
  const [head = "", body = "", signature = "", ...rest] = token.split(".");
  if (rest.length > 0 || !jwtHeader.safeParse(decoded(head)).success) return false;
  const expected = createHmac("sha256", auth.secret).update(`${head}.${body}`).digest();
  if (!equal(expected, Buffer.from(signature, "base64url"))) return false;
  const claims = jwtClaims.safeParse(decoded(body));
  if (!claims.success) return false;
  const { exp, nbf, iss, aud } = claims.data;
  const skew = auth.maxClockSkewSeconds ?? CLOCK_SKEW_SECONDS;
  if (now > exp + skew || (nbf !== undefined && now < nbf - skew)) return false;
  if (auth.issuer !== undefined && iss !== auth.issuer) return false;
  return auth.audience === undefined || [aud ?? []].flat().includes(auth.audience);
}

function decoded(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

function equal(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
