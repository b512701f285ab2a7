// Remote execution: an executor behind a firewall, reached by a harness through a rendezvous that sees only ciphertext.
import "./require-node.ts";

// Both ends: an executor that serves this machine, and a client of one that is elsewhere.
export { type Executor, type ExecutorOptions, runExecutor } from "./executor/run-executor.ts";
export type { ExecutorStatus } from "./executor/executor-loop.ts";
export { connectHarness, type HarnessOptions } from "./harness/connect-harness.ts";

// Credentials for a registry.
export { findCredential, type FindCredentialOptions } from "./credentials/find-credential.ts";
export { bearerToken, type RelayCredential, type UnsignedRequest } from "./credentials/credential.ts";
export { awsCredential, type AwsOptions } from "./credentials/aws-credential.ts";
export { codexLogin } from "./credentials/codex-login.ts";
export { StdinCredential } from "./credentials/stdin-credential.ts";

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
export { openStream } from "./stream/open-stream.ts";
export type { OpenStreamOptions } from "./stream/open-stream-options.ts";
export { StreamAcceptor } from "./stream/stream-acceptor.ts";
export type { HarnessRequest, StreamAcceptorOptions } from "./stream/acceptor-options.ts";
export type { HarnessVerdict } from "./registry-client/registry-client.ts";
export type { HarnessClaim } from "./noise/responder.ts";
export type { RelayStream } from "./stream/relay-stream.ts";
export type { MessageReceiver } from "./stream/message-queue.ts";
export type { FrameChannel, FrameReceiver } from "./stream/frame-channel.ts";
export { WebSocketChannel, type WebSocketChannelOptions } from "./stream/websocket-channel.ts";
export { dialChannel, type DialChannelOptions } from "./stream/dial-channel.ts";
export { createCounters, type RelayCounters } from "./stream/counters.ts";
export { RELAY_LIMITS, type RelayLimits } from "./limits.ts";
