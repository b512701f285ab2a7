/** How long a codex may take to leave, however many threads it holds: the runner gives an interrupted sample two seconds. */
export const LEAVE_MS = 1_000;
