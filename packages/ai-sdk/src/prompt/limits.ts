/** Limits of the files in a prompt. */
export const promptLimits = {
  /** One file, as the SDK bounds the images of tools: it stays in the thread and is sent with each request to the model. */
  fileBytes: 20 * 1024 * 1024,
  /** A whole download. The turn can't begin before it. */
  downloadMs: 30_000,
  /** The Responses API refuses longer names of tools and longer ids of calls. */
  nameCharacters: 64,
} as const;
