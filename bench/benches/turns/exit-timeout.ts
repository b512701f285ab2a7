/** How long codex may take to exit, regardless of its threads: the runner gives an interrupted sample two seconds. */
export const EXIT_TIMEOUT_MS = 1_000;
