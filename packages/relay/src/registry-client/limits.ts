/** Limits of calls to a registry. Codex's numbers, except for the sizes. */
export const REGISTRY_CALL_LIMITS = {
  /** Timeout of a call, from connecting to the end of the body. */
  callTimeoutMs: 6_000,
  /** Timeout of the validation of one harness key. */
  validateTimeoutMs: 10_000,
  /** Maximum bytes of an answer. The largest answer has two keys and an authorization, about 8 KiB. */
  answerBytes: 64 * 1024,
  /** How many characters of a registry's error message are included in a `RelayError`. */
  errorCharacters: 300,
} as const;
