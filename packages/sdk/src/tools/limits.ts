/** Limits of tools. */
export const TOOL_LIMITS = {
  /** Codex rejects longer names. */
  nameCharacters: 128,
  namespaceCharacters: 64,
  namespaceDescriptionCharacters: 1024,
  /** Default timeout of a call. Codex itself has none. */
  callTimeoutMs: 10 * 60_000,
  /**
   * Text of one result; longer text is cut, with a note. Codex shows a model about 48,000 characters, but a model that writes
   * code can read all of it.
   */
  textCharacters: 1_000_000,
  /** Size of an image or audio file. It stays in the thread's history and is sent with each request to the model. */
  mediaBytes: 20 * 1024 * 1024,
  /** How long an aborted call may delay the next call of the same tool. */
  stopGraceMs: 5_000,
} as const;
