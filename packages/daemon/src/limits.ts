/** Limits of the HTTP API. */
export interface HttpLimits {
  /** Maximum bytes of a request body. Messages can contain images. Default: 32 MiB. */
  readonly bodyBytes: number;
  /**
   * Maximum bytes of a request body on routes that need no token, such as `POST /login`. `bodyBytes` also applies.
   * Default: 16 KiB.
   */
  readonly publicBodyBytes: number;
  /** Maximum bytes of an imported session. Default: 1 GiB. */
  readonly importBytes: number;
  /**
   * Average requests per second of one token. Also applies to the requests without a token of each route and address.
   * Default: 500.
   */
  readonly requestsPerSecond: number;
  /** Requests of one token that may exceed the average in a burst. Default: 1,000. */
  readonly requestBurst: number;
  /** Requests per minute with a missing or wrong token, per address. Default: 60. */
  readonly failedLoginsPerMinute: number;
  /** Maximum sessions, not counting deleted ones. Default: 10,000. */
  readonly sessions: number;
  /** Maximum event streams that are open at the same time. Default: 2,000. */
  readonly streams: number;
  /** Maximum connections to the listening server. Default: 5,000. */
  readonly connections: number;
  /**
   * Maximum requests of one connection that wait for the response to an earlier one. Beyond it, the connection is closed. Default:
   * 32.
   */
  readonly pipelinedRequests: number;
  /** Maximum requests and WebSockets that are forwarded to other nodes at the same time. Default: 1,000. */
  readonly forwardedRequests: number;
  /** Maximum sessions with work that wait for a node, of all tenants together. Default: 10,000. */
  readonly waitingSessions: number;
  /** Maximum sessions that one multiplexed stream watches. Default: 64. */
  readonly watchedSessions: number;
  /** Interval between comments that keep an idle stream open, in milliseconds. Default: 15,000. */
  readonly heartbeatMs: number;
  /** Longest wait for the outcome of a command, in milliseconds. Default: 60,000. */
  readonly waitMs: number;
  /** How long `GET /ready` waits for the store before it responds with 503, in milliseconds. Default: 3,000. */
  readonly readyMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  bodyBytes: 32 * 1024 * 1024,
  publicBodyBytes: 16 * 1024,
  importBytes: 1024 * 1024 * 1024,
  requestsPerSecond: 500,
  requestBurst: 1000,
  failedLoginsPerMinute: 60,
  sessions: 10_000,
  streams: 2000,
  connections: 5000,
  pipelinedRequests: 32,
  forwardedRequests: 1000,
  waitingSessions: 10_000,
  watchedSessions: 64,
  heartbeatMs: 15_000,
  waitMs: 60_000,
  readyMs: 3000,
};
