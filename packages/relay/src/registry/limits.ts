/** Limits of a registry and its rendezvous. Times are milliseconds. `Infinity` disables a limit. */
export interface RegistryLimits {
  /** Maximum bytes of a request's body. A public key has about 1,700. Default: 16 KiB. */
  readonly bodyBytes: number;
  /** Maximum number of connections to the listening server. Default: 20,000. */
  readonly connections: number;
  /** Timeout for the headers of a request or an upgrade. Default: 10,000. */
  readonly headersMs: number;
  /** Maximum number of requests with a missing or invalid credential, per minute and address. Default: 120. */
  readonly failuresPerMinute: number;
  /**
   * Maximum number of refused requests per minute that are written to the audit log. The metrics count all of them. Default:
   * 600.
   */
  readonly auditedRefusalsPerMinute: number;
  /** How long an executor can connect with the URL of a registration. Afterwards, it registers again. Default: 600,000. */
  readonly executorTicketMs: number;
  /** How long a harness can use the URL and the authorisation of a connect call. Default: 60,000. */
  readonly authorizationMs: number;
  /** Maximum number of connected executors per environment. Default: 8. */
  readonly executorsPerEnvironment: number;
  /** Maximum number of harness sockets per environment, on one node. Default: 256. */
  readonly harnessesPerEnvironment: number;
  /** Maximum number of streams per environment, on one node. Codex's executor has the same limit. Default: 128. */
  readonly streamsPerEnvironment: number;
  /**
   * Maximum number of handshakes of one token that one executor has not accepted: pending, or failed recently. Further ones wait
   * for the pending ones, or are refused if this many have failed. Codex's executor disconnects after 8 failures. Default: 4.
   */
  readonly handshakesPerToken: number;
  /** How long a failed handshake counts. Default: 600,000. */
  readonly failedHandshakesMs: number;
  /** How long a claimed stream may wait for the executor's first answer. Default: 15,000. */
  readonly handshakeMs: number;
  /** Maximum bytes of a frame. A larger frame closes the socket. Codex has the same limit. Default: 256 KiB. */
  readonly frameBytes: number;
  /** Maximum bytes per second of all streams of an environment, in both directions, on one node. Default: Infinity. */
  readonly bytesPerSecond: number;
  /** Bytes that may wait for a slow socket. Beyond it, the sockets that send to it are paused. Default: 1 MiB. */
  readonly bufferedBytes: number;
  /** How long a slow socket may pause other sockets before it is closed. Default: 10,000. */
  readonly stallMs: number;
  /** A harness that sends no frames for this long is disconnected. Default: 12 hours. */
  readonly idleMs: number;
  /** Interval between pings. A socket that sends nothing for two intervals is closed. Default: 30,000. */
  readonly pingMs: number;
  /** How long a node counts as alive after its newest renewal. It renews four times in this period. Default: 10,000. */
  readonly leaseMs: number;
}

export const REGISTRY_LIMITS: RegistryLimits = {
  bodyBytes: 16 * 1024,
  connections: 20_000,
  headersMs: 10_000,
  failuresPerMinute: 120,
  auditedRefusalsPerMinute: 600,
  executorTicketMs: 600_000,
  authorizationMs: 60_000,
  executorsPerEnvironment: 8,
  harnessesPerEnvironment: 256,
  streamsPerEnvironment: 128,
  handshakesPerToken: 4,
  failedHandshakesMs: 600_000,
  // As long as a harness waits for the answer to its handshake.
  handshakeMs: 15_000,
  frameBytes: 256 * 1024,
  bytesPerSecond: Infinity,
  bufferedBytes: 1024 * 1024,
  stallMs: 10_000,
  idleMs: 12 * 3_600_000,
  pingMs: 30_000,
  leaseMs: 10_000,
};
