// Remote execution: an executor behind a firewall, reached by a harness through a rendezvous that sees only ciphertext.
import "./require-node.ts";

// Errors.
export { RelayError, type RelayErrorCode } from "./errors.ts";

// Keys and their JSON. The Noise handshake itself is private.
export {
  generateIdentity,
  identityFromSeeds,
  type IdentitySeeds,
  isSamePublicKey,
  type PublicKeyJson,
  type RelayIdentity,
  type RelayPublicKey,
  toPublicKeyJson,
} from "./noise/identity.ts";

// Encrypted streams over a rendezvous, and the connections below them.
export { openStream, type OpenStreamOptions } from "./stream/open-stream.ts";
export { StreamAcceptor } from "./stream/stream-acceptor.ts";
export type { HarnessRequest, StreamAcceptorOptions } from "./stream/acceptor-options.ts";
export type { HarnessClaim } from "./noise/responder.ts";
export type { RelayStream } from "./stream/relay-stream.ts";
export type { MessageReceiver } from "./stream/message-queue.ts";
export type { FrameChannel, FrameReceiver } from "./stream/frame-channel.ts";
export { WebSocketChannel, type WebSocketChannelOptions } from "./stream/websocket-channel.ts";
export { dialChannel, type DialChannelOptions } from "./stream/dial-channel.ts";
export { createCounters, type RelayCounters } from "./stream/counters.ts";
export { RELAY_LIMITS, type RelayLimits } from "./limits.ts";
