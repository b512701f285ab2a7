/** The bounds of tools, with Codex's own where it has some. */
export const toolLimits = {
  /** Codex refuses longer names. */
  nameCharacters: 128,
  namespaceCharacters: 64,
  namespaceDescriptionCharacters: 1024,
  /** How long a call may take unless its tool says otherwise: Codex itself would wait for ever. */
  callTimeoutMs: 10 * 60_000,
  /**
   * The text of one result. Codex shows a model some 48,000 characters of it; a model that writes code may read all.
   * What is longer is cut, with a note.
   */
  textCharacters: 1_000_000,
  /** An image or a sound. It stays in the history of the thread and is sent with each request to the model. */
  mediaBytes: 20 * 1024 * 1024,
  /** How long a tool that was told to stop keeps the next call of it waiting. */
  stopGraceMs: 5_000,
} as const;
