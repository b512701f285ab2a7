/** Every bound that a peer and its transport keep, in one place. All are per connection. */
export interface RpcLimits {
  /** The largest message, either way, in bytes. A larger one closes the connection: the answer in it is lost. */
  readonly messageBytes: number;
  /** Calls that the other side may be working on at once. */
  readonly inFlight: number;
  /** Calls that may wait for a free place; one more is refused with `queue_full`. */
  readonly queuedCalls: number;
  /** Requests of the other side that may run here at once; one more is answered "overloaded". */
  readonly inboundRequests: number;
  /** Bytes that may wait for a slow reader on the other side; then calls and notices are refused. */
  readonly bufferedBytes: number;
  /** How long a call waits for its answer, queueing and retries included, unless the call says otherwise. */
  readonly callTimeoutMs: number;
  /** How often a call refused as "overloaded" is sent again. */
  readonly overloadRetries: number;
  /**
   * How long a connection that ends may take over its last bytes, either way, before it is cut: `close` waits no longer
   * for ours to leave, and the last words of a side that reads no more are waited for no longer.
   */
  readonly closeTimeoutMs: number;
  /** How often a WebSocket is pinged. One that answers no ping until the next is due is dead. */
  readonly heartbeatMs: number;
}

export const DEFAULT_LIMITS: RpcLimits = {
  // What Codex's own remote client accepts.
  messageBytes: 128 * 1024 * 1024,
  // An app-server queues 128 and refuses bursts of about 200: half of that leaves room for other clients.
  inFlight: 64,
  // Far above any burst that a program means; a runaway loop meets it within a few MB.
  queuedCalls: 100_000,
  inboundRequests: 1024,
  bufferedBytes: 256 * 1024 * 1024,
  // Answers come in milliseconds. Callers of methods that wait for a child or a person pass their own limit.
  callTimeoutMs: 30_000,
  // With the delays of `overloadDelayMs` this is about ten seconds of trying.
  overloadRetries: 10,
  closeTimeoutMs: 2_000,
  // Below the minute after which the usual proxies drop a silent connection.
  heartbeatMs: 30_000,
};
