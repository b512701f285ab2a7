/** Prefix that makes tokens recognisable in logs and for secret scanners. */
export const TOKEN_PREFIX = "ckd_";
/** Prefix of login codes. */
export const CODE_PREFIX = "ckl_";
const TOKEN = /ckd_[\w-]{43}/g;
const REDACTED = TOKEN_PREFIX + "*".repeat(43);

/**
 * Replaces tokens of a daemon by text of the same length, so that offsets stay valid. The agent can read the file of
 * the first token and print it. Without this replacement, every client that can read events would get all scopes.
 */
export function redactTokens(text: string): string {
  return text.includes(TOKEN_PREFIX) ? text.replaceAll(TOKEN, REDACTED) : text;
}
