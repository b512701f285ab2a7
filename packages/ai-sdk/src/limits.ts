/** The provider's limits. Some are the defaults of settings. */
export const AI_SDK_LIMITS = {
  /** How long a turn waits for a tool result or a person's decision. People take minutes; a crashed app never answers. */
  suspendTimeoutMs: 15 * 60_000,
  /** How long an idle codex is kept. It does not keep the program alive, and starting another takes 0.1 s. */
  idleShutdownMs: 10 * 60_000,
  /** How long an idle connection is kept. Short, because a connection keeps the program alive and would delay a script's exit. */
  idleDisconnectMs: 5_000,
  /** Number of idle threads kept. The oldest is released first; its conversation can continue from the messages. */
  idleThreads: 64,
  /** How long an idle thread is kept. */
  idleThreadMs: 10 * 60_000,
  /** Lower limits for threads with MCP servers, because each such thread has its own server processes. */
  idleMcpThreads: 2,
  idleMcpThreadMs: 5_000,
  /** Delay after a turn before threads are checked for MCP servers from the user's configuration. */
  mcpLookMs: 500,
  /** Number of released threads remembered, so that their conversations move to a new thread without a warning. */
  releasedThreads: 1_000,
  /** Number of folders whose Codex configuration is cached. */
  factFolders: 64,
  /** Maximum number of threads started in advance per kind of call. Otherwise equals the number of concurrent calls. */
  prestartedThreads: 8,
  /** How long these threads are kept. Short, because files that they read at startup, such as AGENTS.md, may change. */
  prestartedThreadMs: 10_000,
  /** Number of kinds of calls remembered. A program has few, and one with many gains nothing from prestarted threads. */
  prestartedKinds: 8,
  /** How long a tool call waits for its response to end, so that further calls of that response join its step. */
  responseEndMs: 5_000,
  /** How long an interrupted turn may take to stop before its stream is ended anyway. Codex needs about 5 ms. */
  interruptMs: 5_000,
  /**
   * A running command's output is streamed again when it has grown by this fraction, or after the longer of the two pauses below.
   */
  outputGrowth: 1 / 2,
  /** Shortest pause between two preliminary results of output that has grown less than that. */
  outputEveryMs: 250,
  /**
   * The same pause as a fraction of the running time: `ai` 7 keeps every preliminary result in the messages, so there must be
   * few.
   */
  outputEveryPart: 1 / 4,
  /** Maximum output in a preliminary result. The final result is complete. */
  outputCharacters: 16_384,
  /** Raw events that a stream buffers before its first part of another type. */
  heldParts: 256,
  /** Maximum number of a turn's warnings in its metadata. */
  turnWarnings: 20,
} as const;
