/** Limits of calls to a registry. Codex's numbers, except for the sizes. */
export const REGISTRY_CALL_LIMITS = {
  /** How long a call may take, from the connection to the end of the body. */
  callTimeoutMs: 6_000,
  /** How long the validation of one harness key may take. */
  validateTimeoutMs: 10_000,
  /** The largest answer: a bundle has two keys and an authorization, about 8 KiB. */
  answerBytes: 64 * 1024,
  /** The part of a registry's error message that is repeated in ours. */
  errorCharacters: 300,
} as const;
