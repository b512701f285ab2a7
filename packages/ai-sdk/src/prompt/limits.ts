/** Limits of the files in a prompt. */
export const promptLimits = {
  /**
   * Size of one file, the same as the SDK's limit for images of tools: it stays in the thread and is sent with each request to
   * the model.
   */
  fileBytes: 20 * 1024 * 1024,
  /** Time limit of a download. The turn can't begin before it ends. */
  downloadMs: 30_000,
  /** The Responses API refuses longer names of tools and longer ids of calls. */
  nameCharacters: 64,
} as const;
