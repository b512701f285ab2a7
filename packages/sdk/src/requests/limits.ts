/** The bounds that the broker keeps. */
export const requestLimits = {
  /**
   * Requests that are remembered as answered. The server confirms most within milliseconds, and tool calls never; this is far
   * more than are ever on their way at once.
   */
  rememberedAnswers: 256,
} as const;
