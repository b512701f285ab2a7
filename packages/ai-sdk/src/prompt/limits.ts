/** Limits of the files in a prompt. */
export const promptLimits = {
  /**
   * Maximum file size. Same as the SDK's limit for tool images, because a file stays in the thread and is sent with every request
   * to the model.
   */
  fileBytes: 20 * 1024 * 1024,
  /** Time limit for a download. The turn can't start before the download ends. */
  downloadMs: 30_000,
  /** The Responses API rejects longer tool names and call ids. */
  nameCharacters: 64,
} as const;
