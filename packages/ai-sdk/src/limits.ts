/** The provider's limits. Those that a user may change are settings with these defaults. */
export const limits = {
  /** How long a turn waits for a tool's result or a person's decision. People take minutes; a crashed app never answers. */
  parkedTurnMs: 15 * 60_000,
  /** How long a codex without work is kept. It does not keep the program alive; another starts in a tenth of a second. */
  idleShutdownMs: 10 * 60_000,
  /** The same for a connection, which does keep the program alive: a script should not wait long for its end. */
  idleDisconnectMs: 5_000,
  /** Idle threads that are kept. The oldest is released first; its conversation continues from the messages. */
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
  /** A running command's output is streamed again when it has grown by this fraction, or … */
  outputGrowth: 1 / 2,
  /** … after this time, … */
  outputEveryMs: 250,
  /** … and after this fraction of its running time: `ai` 7 keeps every preliminary result in the messages, so there must be few. */
  outputEveryPart: 1 / 4,
  /** How much output a preliminary result has; the final result is complete. */
  outputCharacters: 16_384,
  /** Raw events that a stream buffers until its first other part. */
  heldParts: 256,
  /** Warnings of a turn that its metadata repeats. */
  turnWarnings: 20,
} as const;
