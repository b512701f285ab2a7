/** The bounds of the provider, each with its reason. Those that a user may change are settings with these defaults. */
export const limits = {
  /** How long a turn waits for a tool's result or a person's decision. A person may be at lunch; a crashed app never comes. */
  parkedTurnMs: 15 * 60_000,
  /** How long a codex without work is kept. It does not keep the program alive; another starts in a tenth of a second. */
  idleShutdownMs: 10 * 60_000,
  /** The same for a connection, which does keep the program alive: a script should not wait long for its end. */
  idleDisconnectMs: 5_000,
  /** Threads without a turn that are kept for their next one; the oldest goes first and comes back from its messages. */
  idleThreads: 64,
  /** How long such a thread is kept: each may have MCP servers of its own that run. */
  idleThreadMs: 10 * 60_000,
  /** Threads that are started ahead for calls of one kind, at the most: as many as were made at once. */
  readyThreads: 8,
  /** How long they wait: what they read at their start, such as AGENTS.md, must not be old. */
  readyThreadMs: 10_000,
  /** Kinds of calls that are remembered: a program has few, and one with many gains nothing. */
  readyKinds: 8,
  /** How long a turn may take to stop before its stream ends without it. Codex needs some 5 ms. */
  interruptMs: 5_000,
  /** What a running command prints is shown again when it grew by this part, or … */
  outputGrowth: 1 / 2,
  /** … after this time, … */
  outputEveryMs: 250,
  /** … and after this part of the time that it runs: `ai` 7 keeps every showing in the messages, so there must be few. */
  outputEveryPart: 1 / 4,
  /** How much of it is shown while it runs; the result at its end has all. */
  outputCharacters: 16_384,
  /** Warnings of a turn that its metadata repeats. */
  turnWarnings: 20,
} as const;
