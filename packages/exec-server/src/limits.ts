const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits of a server that `ExecServerOptions.limits` can change. */
export const SERVER_LIMITS = {
  /** Largest accepted message. The same as in Codex's own server and client. */
  messageBytes: 64 * MIB,
  /**
   * Maximum number of frames per message. Enough for the largest message in frames of 4 KiB; prevents empty
   * frames from exhausting memory.
   */
  messageFragments: 16_384,
  /** The largest WebSocket frame that is sent. Codex's client drops the connection above 16 MiB. */
  frameBytes: 8 * MIB,
  /** How long a session waits for its client to reconnect. Codex's number; its client tries for 25 s. */
  sessionTtlMs: 30_000,
  /** How long a closed process stays readable. Codex's number. */
  closedRetentionMs: 30_000,
  /** Output kept per process for replay. Codex's numbers. */
  retainedBytes: MIB,
  retainedChunks: 50_000,
  /** Output kept for all closed processes of a session whose client has received it: the oldest is dropped first. */
  closedRetainedBytes: 64 * MIB,
  /**
   * Unsent bytes above which reading from children is paused, and below which it is resumed. Together with output that arrives
   * while no client is connected, they stay below `retainedBytes`.
   */
  outgoingHighBytes: MIB / 2,
  outgoingLowBytes: 256 * KIB,
  /** Unsent bytes above which no more requests are read, so that a client that never reads can't exhaust memory. */
  outgoingStopReadingBytes: 8 * MIB,
  /** Requests per connection that may wait for a free slot before no more are read. */
  queuedRequests: 4096,
  /** Processes per session. Closed ones are forgotten early to make room; only running ones can fill it. */
  processes: 4096,
  /** Shell snapshots per session, and how long and how large a capture may be. Codex's numbers. */
  snapshots: 16,
  snapshotTimeoutMs: 10_000,
  snapshotBytes: 512 * KIB,
  /** How often a WebSocket is pinged. Codex's number. A client that sends nothing until the next ping is disconnected. */
  pingIntervalMs: 30_000,
  /** Open connections per listener. Further connections are refused. */
  connections: 1024,
  /** Connections that have not completed the WebSocket handshake. The oldest is dropped when another one arrives. */
  pendingConnections: 64,
  /**
   * Number of subjects without a connection whose highest epoch is remembered. The one that disconnected
   * first is forgotten.
   */
  rememberedSubjects: 10_000,
  /** Timeout for a WebSocket handshake, from the connection to the response. */
  handshakeTimeoutMs: 10_000,
  /** How long `close()` waits for sessions, listeners and children before it gives up on them. */
  closeTimeoutMs: 5_000,
  /**
   * Idle helpers that are kept for sandboxed file operations, and for how long: each needs about 13 MB. With more than
   * four of them the time is shorter in proportion.
   */
  sandboxHelpers: 20,
  sandboxHelperIdleTimeoutMs: 15_000,
  /** Helpers that may be busy at once, and how long a request waits for one of them when all are. */
  busySandboxHelpers: 64,
  sandboxHelperWaitTimeoutMs: 120_000,
  /** Timeout for a helper's response. */
  sandboxHelperCallTimeoutMs: 120_000,
  /** Files that the deny patterns of a sandbox are compared with, how long that may take, and how many may be denied. */
  denyScanEntries: 500_000,
  denyScanTimeoutMs: 20_000,
  deniedMatches: 2_000,
} as const;

/** Limits of a client that `ExecClientOptions.limits` can change. */
export const CLIENT_LIMITS = {
  /** Requests in flight. Codex's server can lock up above about 1000. */
  inFlight: 256,
  /** How long a connection and a handshake may take. Codex's number. */
  connectTimeoutMs: 10_000,
  /** How long a client tries to resume its session after a lost connection, and the pause between attempts. Codex's numbers. */
  resumeTimeoutMs: 25_000,
  resumeRetryDelayMs: 100,
  /** Unread output per process. Above it, the oldest is dropped and the reader fails with `output_lost`. */
  unreadOutputBytes: 8 * MIB,
  /** Events that may wait for a missing sequence number, and their bytes. Codex's client keeps 256 and 1 MiB. */
  reorderEvents: 1024,
  reorderBytes: 4 * MIB,
  /** How long a launched server may take to stop. */
  stopTimeoutMs: 2_000,
} as const;

export type ServerLimits = { readonly [K in keyof typeof SERVER_LIMITS]: number };
export type ClientLimits = { readonly [K in keyof typeof CLIENT_LIMITS]: number };

/** Bounds that can't be changed: most are part of the protocol as Codex implements it. */
export const EXEC_LIMITS = {
  /** JSON values in one message. Codex's number; a long string is one value. */
  jsonValues: 262_144,
  /** How deep a message may nest. Codex's number. */
  jsonDepth: 127,
  /** The largest chunk of output. Far below the 1 MiB of reordering that Codex's client allows. */
  chunkBytes: 64 * KIB,
  /** Default for `concurrentRequests`: concurrent requests per connection. */
  concurrentRequests: 64,
  /** Write ids remembered for each process, so that a retried write is applied once. Codex's number. */
  rememberedWrites: 4096,
  /** Bytes that may wait for a child that does not read its stdin. Then `process/write` waits. */
  stdinHighBytes: MIB,
  /** The longest scope of a shell snapshot. Codex's number. */
  snapshotScopeBytes: 256,
  /** Open files of one connection, the length of their ids, and the size of one block. Codex's numbers. */
  fileHandles: 128,
  handleIdBytes: 32,
  blockBytes: MIB,
  /** The largest file read whole. Codex's number. */
  fileBytes: 512 * MIB,
  /** Entries of one directory. Codex's number. */
  directoryEntries: 50_000,
  /** A walk's largest limits, and its budget of answer bytes. Codex's numbers. */
  walkDepth: 64,
  walkDirectories: 10_000,
  walkEntries: 50_000,
  walkBytes: 4 * MIB,
  /** How long a walk may take. Many walks share four threads, and a client waits for each answer. */
  walkTimeoutMs: 20_000,
  /** Watches of one connection and paths of one watch. */
  watches: 128,
  watchedPaths: 1024,
  /** One block of a streamed HTTP body. Codex's number. */
  httpDeltaBytes: MIB,
  /** The largest HTTP body answered in one piece: with base64 and the rest it must fit in a message. */
  httpBodyBytes: 40 * MIB,
  /** Streamed HTTP bodies of one connection. */
  httpStreams: 64,
  /**
   * Maximum number of connections per process to each of its proxies: far more than programs open at once.
   */
  proxyConnections: 256,
  /** Timeouts of a proxy for resolving a name and for connecting to an address. */
  proxyLookupTimeoutMs: 5_000,
  proxyConnectTimeoutMs: 10_000,
  /**
   * Maximum number of questions that may be pending at a client, and maximum lengths of its reasons and of
   * process ids. Codex's numbers.
   */
  clientQuestions: 256,
  policyReasonBytes: 1024,
  policyProcessIdBytes: 256,
  /** The longest subject of a token with an epoch. */
  subjectBytes: 256,
  /** Added to the client's own timeout while waiting for its answer. Codex's number. */
  policyAnswerMarginMs: 5_000,
  /** Default timeout for a client's handler of network requests. The handler may ask a person. */
  networkRequestTimeoutMs: 300_000,
  /** Number of sandbox helpers that may start at once. More would leave no processor time for the server. */
  startingSandboxHelpers: 8,
  /** How long to wait for a child's last output before `sandboxDenied` is decided. Codex's number. */
  denialGraceMs: 20,
  /** The longest line between the server and its launcher. Orders hold a command line and an environment. */
  launchReportBytes: 64 * MIB,
  /** How long the launcher may take to end its children. */
  stopTimeoutMs: 2_000,
} as const;
