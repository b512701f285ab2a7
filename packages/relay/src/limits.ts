const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits of one end of a relay: an executor or a harness. Numbers called "Codex's" are those of its own ends. */
export interface RelayLimits {
  /** Largest WebSocket message in either direction. Codex's number. */
  readonly frameBytes: number;
  /** Interval of WebSocket pings. */
  readonly pingIntervalMs: number;
  /** A connection that receives nothing for this long, not even a pong, is closed. Shorter than `resumeTimeoutMs`. */
  readonly pongTimeoutMs: number;
  /** A connection whose unsent data makes no progress for this long is closed. Codex's number. */
  readonly stalledWriteMs: number;
  /** Time for the TCP connection, TLS and the WebSocket upgrade. Codex's number. */
  readonly connectTimeoutMs: number;
  /** Unsent bytes of a connection above which senders wait. */
  readonly highWaterBytes: number;
  /** Unsent bytes of one stream at which it refuses further messages with `queue_full`. */
  readonly bufferedBytes: number;
  /** Time that a closing stream or connection has to send its data. */
  readonly closeTimeoutMs: number;

  /** Largest plaintext of one encrypted record. Codex's number. */
  readonly recordBytes: number;
  /** Largest JSON-RPC message. Codex's number. */
  readonly messageBytes: number;
  /** How far ahead of the next expected record one may arrive. Codex's number. */
  readonly reorderFrames: number;
  /** Bytes of records that arrived ahead of a missing one. Codex's number. */
  readonly reorderBytes: number;
  /** Messages of one stream that wait for a paused reader. If more arrive, the stream is reset. Codex's number. */
  readonly queuedMessages: number;
  /** Bytes of those messages. One message always fits. */
  readonly queuedBytes: number;

  /** Time that a harness waits for the answer to its handshake. */
  readonly handshakeTimeoutMs: number;
  /** Streams of one executor, established or in a handshake. Codex's number. */
  readonly activeStreams: number;
  /** Harness keys that an executor validates at once. Codex's number. */
  readonly pendingValidations: number;
  /** Time for one validation. Codex's number. */
  readonly validationTimeoutMs: number;
  /** Failed handshakes after which an executor closes the connection. Codex's number. */
  readonly failedHandshakes: number;
  /** Time after which as many failures are forgotten. */
  readonly failedHandshakesMs: number;

  /** The limits below belong to the reliability extension. Frames that may be on their way at once. */
  readonly windowFrames: number;
  /** Bytes of those frames, and of messages that wait for a paused reader before further data is refused. */
  readonly windowBytes: number;
  /** Time before the first retransmission while no round trip was measured. */
  readonly initialRetransmitMs: number;
  /** Shortest and longest time before a retransmission. */
  readonly minRetransmitMs: number;
  readonly maxRetransmitMs: number;
  /** How long an acknowledgement waits for data to travel with. */
  readonly ackDelayMs: number;
  /** Received bytes after which an acknowledgement waits no longer. */
  readonly ackBytes: number;
  /** How long a stream without a connection, or whose other end is silent, waits for its resumption. */
  readonly resumeTimeoutMs: number;
  /** Time before the first attempt to resume is repeated, and the longest time between two. */
  readonly resumeRetryMs: number;
  readonly maxResumeRetryMs: number;
  /** Records of one stream that can't be decrypted and are expected to be sent again. After more of them, the stream is reset. */
  readonly forgedRecords: number;
  /** Records of one direction after which its key is replaced. Both ends must have the same number. */
  readonly rekeyRecords: number;
}

export const RELAY_LIMITS: RelayLimits = {
  frameBytes: 256 * KIB,
  // Codex's ends take twice as long. A connection that died silently has to be replaced before its streams end.
  pingIntervalMs: 10_000,
  pongTimeoutMs: 20_000,
  stalledWriteMs: 60_000,
  connectTimeoutMs: 10_000,
  // Enough to keep a fast connection busy; a slow one delays a small message by no more than this.
  highWaterBytes: MIB,
  // More than one message of the largest size.
  bufferedBytes: 128 * MIB,
  closeTimeoutMs: 2_000,

  recordBytes: 61_440,
  messageBytes: 64 * MIB,
  reorderFrames: 64,
  reorderBytes: MIB,
  queuedMessages: 128,
  queuedBytes: 64 * MIB,

  // The executor may take the whole time of a validation.
  handshakeTimeoutMs: 15_000,
  activeStreams: 128,
  pendingValidations: 32,
  validationTimeoutMs: 10_000,
  failedHandshakes: 8,
  failedHandshakesMs: 60_000,

  // Frames are kept until they are acknowledged. More of them would outlive V8's young generation, whose collection is cheap:
  // with 8 MiB, a third of the throughput was lost.
  windowFrames: 64,
  windowBytes: 2 * MIB,
  initialRetransmitMs: 1_000,
  minRetransmitMs: 200,
  maxRetransmitMs: 5_000,
  ackDelayMs: 20,
  // An eighth of the window or less, so that it never empties for lack of acknowledgements.
  ackBytes: 256 * KIB,
  // As long as an exec-server keeps a session without a connection.
  resumeTimeoutMs: 30_000,
  resumeRetryMs: 250,
  maxResumeRetryMs: 2_000,
  forgedRecords: 16,
  // At 60 KiB each, a key encrypts at most 1 TB. AES-GCM allows 256 times as many records.
  rekeyRecords: 2 ** 24,
};
