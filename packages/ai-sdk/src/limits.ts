/** The provider's limits. Those that a user may change are settings with these defaults. */
export const AI_SDK_LIMITS = {
  /** How long a turn waits for a tool's result or a person's decision. People take minutes; a crashed app never answers. */
  suspendTimeoutMs: 15 * 60_000,
  /** How long an idle codex is kept. It does not keep the program alive; starting another takes a tenth of a second. */
  idleShutdownMs: 10 * 60_000,
  /** The same for a connection, which keeps the program alive: a script should not have to wait long before it exits. */
  idleDisconnectMs: 5_000,
  /** Number of idle threads kept. The oldest is released first; its conversation continues from the messages. */
  idleThreads: 64,
  /** How long such a thread is kept. */
  idleThreadMs: 10 * 60_000,
  /** The same for threads with MCP servers, each of which has its own processes. */
  idleMcpThreads: 2,
  idleMcpThreadMs: 5_000,
  /** Delay after a turn before threads are checked for MCP servers from the user's configuration. */
  mcpLookMs: 500,
  /** Released threads that are remembered, so that their conversations move to a new thread without a warning. */
  releasedThreads: 1_000,
  /** Folders whose view of Codex's configuration is remembered. */
  factFolders: 64,
  /** Threads that are started in advance per kind of call: as many as there were concurrent calls, up to this number. */
  prestartedThreads: 8,
  /** How long such threads are kept. Short, because files that they read at start, such as AGENTS.md, may change. */
  prestartedThreadMs: 10_000,
  /** Kinds of calls that are remembered: a program has few, and one with many gains nothing. */
  prestartedKinds: 8,
  /** How long a tool call waits for the end of its response, so that further calls of the response join its step. */
  responseEndMs: 5_000,
  /** How long an interrupted turn may take to stop before its stream is ended. Codex needs about 5 ms. */
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
