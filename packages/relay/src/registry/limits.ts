/** Limits of a registry and its rendezvous. Times are milliseconds; `Infinity` switches a limit off. */
export interface RegistryLimits {
  /** Bytes of a request's body. A public key is about 1,700. Default: 16 KiB. */
  readonly bodyBytes: number;
  /** Connections to the listening server. Default: 20,000. */
  readonly connections: number;
  /** Until the headers of a request or an upgrade have arrived. Default: 10,000. */
  readonly headersMs: number;
  /** Requests per minute with a missing or wrong credential, per address. Default: 120. */
  readonly failuresPerMinute: number;
  /** Refused requests per minute that are written to the audit log. The metrics count all of them. Default: 600. */
  readonly auditedRefusalsPerMinute: number;
  /** How long an executor can connect with the URL of a registration. After that, it registers again. Default: 600,000. */
  readonly executorTicketMs: number;
  /** How long a harness can use the URL and the authorisation of a connect call. Default: 60,000. */
  readonly authorizationMs: number;
  /** Executors of one environment that are connected at once. Default: 8. */
  readonly executorsPerEnvironment: number;
  /** Sockets of harnesses per environment, on one node. Default: 256. */
  readonly harnessesPerEnvironment: number;
  /** Streams per environment, on one node. Codex's executor has as many at most. Default: 128. */
  readonly streamsPerEnvironment: number;
  /** Bytes of one frame. More closes the socket. Codex's own limit. Default: 256 KiB. */
  readonly frameBytes: number;
  /** Bytes per second of one environment, of all its streams in both directions, on one node. Default: Infinity. */
  readonly bytesPerSecond: number;
  /** Frames that wait for a slow socket. More pauses the sockets that send to it. Default: 1 MiB. */
  readonly bufferedBytes: number;
  /** How long a slow socket may pause others. After that, it is closed. Default: 10,000. */
  readonly stallMs: number;
  /** A harness without frames for this long is disconnected. Default: 12 hours. */
  readonly idleMs: number;
  /** Between pings. A socket that is silent for two of these periods is closed. Default: 30,000. */
  readonly pingMs: number;
  /** How long a node counts as alive after its newest renewal. It renews four times as often. Default: 10,000. */
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
  frameBytes: 256 * 1024,
  bytesPerSecond: Infinity,
  bufferedBytes: 1024 * 1024,
  stallMs: 10_000,
  idleMs: 12 * 3_600_000,
  pingMs: 30_000,
  leaseMs: 10_000,
};
