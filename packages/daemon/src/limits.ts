/** Limits of the HTTP API. */
export interface HttpLimits {
  /** Bytes of a request's body. Images are part of messages. Default: 32 MiB. */
  readonly bodyBytes: number;
  /** Bytes of an imported session. Default: 1 GiB. */
  readonly importBytes: number;
  /** Requests per second of one token, on average. Default: 500. */
  readonly requestsPerSecond: number;
  /** Requests of one token at once, above the average. Default: 1,000. */
  readonly requestBurst: number;
  /** Requests per minute with a missing or wrong token, per address. Default: 60. */
  readonly failedLoginsPerMinute: number;
  /** Sessions that are not deleted. Default: 10,000. */
  readonly sessions: number;
  /** Event streams that are open at once. Default: 2,000. */
  readonly streams: number;
  /** Connections to the listening server. Default: 5,000. */
  readonly connections: number;
  /** Requests of one connection that wait for the response to an earlier one. One more ends the connection. Default: 32. */
  readonly pipelinedRequests: number;
  /** Requests and WebSockets that are being forwarded to other nodes. Default: 1,000. */
  readonly forwardedRequests: number;
  /** Sessions of all tenants that have something to do and no node. Default: 10,000. */
  readonly waitingSessions: number;
  /** Sessions that one multiplexed stream watches. Default: 64. */
  readonly watchedSessions: number;
  /** Between comments that keep an idle stream open, in milliseconds. Default: 15,000. */
  readonly heartbeatMs: number;
  /** Longest wait for the outcome of a command, in milliseconds. Default: 60,000. */
  readonly waitMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  bodyBytes: 32 * 1024 * 1024,
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
};
