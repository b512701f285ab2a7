/** The bounds of the provider, each with its reason. Those that a user may change are settings with these defaults. */
export const limits = {
  /** How long a turn waits for a tool's result or a person's decision. A person may be at lunch; a crashed app never comes. */
  parkedTurnMs: 15 * 60_000,
  /** How long a codex without work is kept. It does not keep the program alive; another starts in a tenth of a second. */
  idleShutdownMs: 10 * 60_000,
  /** The same for a connection, which does keep the program alive: a script should not wait long for its end. */
  idleDisconnectMs: 5_000,
  /** Threads without a turn that are kept for their next one; the oldest is released first and returns from its messages. */
  idleThreads: 64,
  /** How long such a thread is kept. */
  idleThreadMs: 10 * 60_000,
  /** The same for threads with MCP servers, each of which has processes of its own. */
  idleMcpThreads: 2,
  idleMcpThreadMs: 5_000,
  /** How long after a turn the configuration is searched for MCP servers that threads have without asking. */
  mcpLookMs: 500,
  /** Released threads that are remembered, so that their conversations move to a new thread without a warning. */
  releasedThreads: 1_000,
  /** Folders whose view of Codex's configuration is remembered. */
  factFolders: 64,
  /** Threads that are started ahead per kind of call: as many as there were concurrent calls, up to this. */
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
  /** Parts that a stream holds back until the turn gives something: raw events, where they are asked for. */
  heldParts: 256,
  /** Warnings of a turn that its metadata repeats. */
  turnWarnings: 20,
} as const;
