/** Limits of a peer and its transport. All are per connection. */
export interface RpcLimits {
  /**
   * Largest message in either direction, in bytes. A larger one closes the connection, because it may contain a
   * response.
   */
  readonly messageBytes: number;
  /** Calls that may be in flight at once. */
  readonly inFlight: number;
  /** Calls that may wait for a free slot. Further calls are rejected with `queue_full`. */
  readonly queuedCalls: number;
  /** Requests of the other side that may run at once. Further ones are answered with "overloaded". */
  readonly inboundRequests: number;
  /**
   * Unsent bytes that may be buffered for a slow reader. Beyond it, calls and notifications are rejected with
   * `queue_full`.
   */
  readonly bufferedBytes: number;
  /** Default timeout of a call, including queueing and retries. A call may override it with `timeoutMs`. */
  readonly callTimeoutMs: number;
  /** Retries of a call that was refused as overloaded. */
  readonly overloadRetries: number;
  /** Time that a closing connection has to send its buffered data and to receive the last messages of the other side. */
  readonly closeTimeoutMs: number;
  /** Interval of WebSocket pings. The connection is considered dead if nothing has arrived when the next ping is due. */
  readonly heartbeatIntervalMs: number;
}

export const RPC_LIMITS: RpcLimits = {
  // The limit of Codex's own remote client.
  messageBytes: 128 * 1024 * 1024,
  // An app-server queues 128 and refuses bursts of about 200: half of that leaves room for other clients.
  inFlight: 64,
  // Far above any intended burst; a runaway loop reaches it after a few MB.
  queuedCalls: 100_000,
  inboundRequests: 1024,
  bufferedBytes: 256 * 1024 * 1024,
  // Responses take milliseconds. Methods that wait for a child process or a person need their own timeout.
  callTimeoutMs: 30_000,
  // With the delays of `overloadDelayMs`, about ten seconds.
  overloadRetries: 10,
  closeTimeoutMs: 2_000,
  // Below the minute after which common proxies drop an idle connection.
  heartbeatIntervalMs: 30_000,
};
