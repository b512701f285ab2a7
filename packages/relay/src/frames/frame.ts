/** The only version of the relay protocol. */
export const FRAME_VERSION = 1;

/** An encrypted record, or a segment of several. */
export interface DataBody {
  readonly kind: "data";
  /** Number of the record, which is also its nonce. */
  readonly seq: number;
  readonly segmentIndex: number;
  readonly segmentCount: number;
  readonly payload: Uint8Array;
}

export type FrameBody =
  | DataBody
  /** Carries the acknowledgement of the frame's own fields and nothing else. */
  | { readonly kind: "ack" }
  /** Claims a stream for a connection. */
  | { readonly kind: "resume"; readonly nextSeq: number }
  /** Ends a stream. The reason comes from the other side: never log it. */
  | { readonly kind: "reset"; readonly reason: string }
  | { readonly kind: "heartbeat" }
  | { readonly kind: "handshake"; readonly payload: Uint8Array };

/** The `RelayMessageFrame` of `codex.exec_server.relay.v1`: one binary WebSocket message. */
export interface RelayFrame {
  readonly streamId: string;
  /** Acknowledgement of the reliability extension. 0 otherwise. */
  readonly ack: number;
  readonly ackBits: number;
  readonly body: FrameBody;
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** The only reason that is ever sent, so that a reset discloses nothing. */
export const RESET_REASON = "noise_relay_protocol_error";
