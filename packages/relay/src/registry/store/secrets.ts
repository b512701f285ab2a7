import { createHash, randomBytes } from "node:crypto";

/** Recognisable in logs and by scanners for leaked secrets. */
const PREFIXES = { token: "ckr_", ticket: "ckt_", authorization: "cka_" } as const;

/** Longer secrets are not looked up. */
const SECRET = /^ck[rta]_[\w-]{43}$/;

/** Creates a secret of 256 random bits. */
export function newSecret(kind: keyof typeof PREFIXES): string {
  return PREFIXES[kind] + randomBytes(32).toString("base64url");
}

/** Returns the hash of a secret. Undefined if the text can't be a secret of this kind, which saves a query. */
export function hashOfSecret(kind: keyof typeof PREFIXES, text: string): string | undefined {
  return SECRET.test(text) && text.startsWith(PREFIXES[kind]) ? sha256(text) : undefined;
}

/** A plain hash is sufficient, because secrets are random and can't be guessed. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Replaces secrets in a text that is logged. */
export function redactSecrets(text: string): string {
  return text.replaceAll(/ck[rta]_[\w-]{43}/g, "[secret]");
}
