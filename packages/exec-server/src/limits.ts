const KIB = 1024;
const MIB = 1024 * KIB;

/** Every bound that server and client keep, in one place, each with its reason. */
export const EXEC_LIMITS = {
  /** The largest message that comes in. What Codex's own server and client accept. */
  messageBytes: 64 * MIB,
  /** The largest WebSocket frame that goes out. Codex's client drops the connection above 16 MiB. */
  frameBytes: 8 * MIB,
  /** JSON values in one message. Codex's number; a long string is one value. */
  jsonValues: 262_144,
  /** How deep a message may nest. Codex's number. */
  jsonDepth: 127,
  /** How long a session waits for its client to come back. Codex's number; its client tries for 25 s. */
  sessionTtlMs: 30_000,
  /** How long a closed process stays readable. Codex's number. */
  closedRetentionMs: 30_000,
  /** Output kept for replay, for each process. Codex's numbers. */
  retainedBytes: MIB,
  retainedChunks: 50_000,
  /** Output kept of all closed processes of one session whose client has had it: the oldest goes first. */
  closedRetainedBytes: 64 * MIB,
  /** The largest chunk of output. Far below the 1 MiB of reordering that Codex's client allows. */
  chunkBytes: 64 * KIB,
  /**
   * Unsent bytes above which children are no longer read, and below which they are again. Together with what may be missed
   * while nobody is connected it stays below what is kept for replay.
   */
  outgoingHighBytes: MIB / 2,
  outgoingLowBytes: 256 * KIB,
  /** Unsent bytes above which no more requests are read: a client that only writes gets no memory of ours. */
  outgoingStopReadingBytes: 8 * MIB,
  /** Requests that may wait for a free place on one connection before no more are read. */
  queuedRequests: 4096,
  /** Requests that run at once on one connection, unless told otherwise. */
  concurrentRequests: 64,
  /** Write ids remembered for each process, so that a retried write is applied once. Codex's number. */
  rememberedWrites: 4096,
  /** Bytes that may wait for a child that does not read its stdin. Then `process/write` waits. */
  stdinHighBytes: MIB,
  /** Processes of one session, ended ones that are still kept included: each holds up to 1 MiB of output. */
  processes: 4096,
  /** Shell snapshots of one session, how long and how large a capture may be, and its scope. Codex's numbers. */
  snapshots: 16,
  snapshotMs: 10_000,
  snapshotBytes: 512 * KIB,
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
  /** Watches of one connection and paths of one watch. */
  watches: 128,
  watchedPaths: 1024,
  /** One block of a streamed HTTP body. Codex's number. */
  httpDeltaBytes: MIB,
  /** The largest HTTP body answered in one piece: with base64 and the rest it must fit in a message. */
  httpBodyBytes: 40 * MIB,
  /** Streamed HTTP bodies of one connection. */
  httpStreams: 64,
  /** Connections of one process to each of its proxies: far more than programs open at once. */
  proxyConnections: 256,
  /** How long a name may take to be looked up, and an address to be connected to, before a proxy gives up. */
  proxyLookupMs: 5_000,
  proxyConnectMs: 10_000,
  /** Questions that a client has before it at once, the longest reason it may give, and the ids it takes. Codex's numbers. */
  clientQuestions: 256,
  policyReasonBytes: 1024,
  policyProcessIdBytes: 256,
  /** What an answer may take beyond the client's own limit. Codex's number. */
  policyAnswerMarginMs: 5_000,
  /** How long a client's handler of network requests may take, unless told otherwise: a person may be asked. */
  networkRequestMs: 300_000,
  /** How often a WebSocket is pinged. Codex's number. */
  pingMs: 30_000,
  /** How long a child's tail may take before `sandboxDenied` is decided. Codex's number. */
  denialGraceMs: 20,
  /** Warm sandbox helpers, how long one may idle, and how long one may take to start or to answer. */
  sandboxHelpers: 8,
  sandboxHelperIdleMs: 15_000,
  sandboxHelperStartMs: 20_000,
  sandboxHelperCallMs: 120_000,
  /** Requests that a client has under way at once. Codex's server can lock up above about 1000. */
  clientInFlight: 256,
  /** Events that may wait for a missing number, and their bytes. Codex's client keeps 256 and 1 MiB. */
  reorderEvents: 1024,
  reorderBytes: 4 * MIB,
  /** Output that waits for its reader, for each process: more, and the connection is not read until it is taken. */
  unreadOutputBytes: 8 * MIB,
  /** How long a client tries to get its session back, and how long it waits between tries. Codex's numbers. */
  resumeMs: 25_000,
  resumeRetryMs: 100,
  /** How long a connection and a handshake may take. Codex's number. */
  connectMs: 10_000,
  /** How long a launched server may take to stop by itself. */
  stopMs: 2_000,
} as const;

/** The limits of one server or client: the defaults, with some changed. */
export type ExecLimits = { readonly [K in keyof typeof EXEC_LIMITS]: number };
