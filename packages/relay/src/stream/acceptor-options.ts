import type { BoundedSet } from "@codexkit/rpc/async";
import type { RelayLimits } from "../limits.ts";
import type { RelayIdentity } from "../noise/identity.ts";
import type { HarnessClaim } from "../noise/responder.ts";
import type { HarnessVerdict } from "../registry-client/registry-client.ts";
import type { RelayCounters } from "./counters.ts";
import type { EncryptedStream } from "./encrypted-stream.ts";
import type { RelayStream } from "./relay-stream.ts";

/** A harness that asks for a stream. */
export interface HarnessRequest extends HarnessClaim {
  readonly streamId: string;
  readonly registrationId: string;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

export interface StreamAcceptorOptions {
  readonly identity: RelayIdentity;
  readonly environmentId: string;
  /** Asks the registry whether a harness may open a stream. A rejection counts as no. */
  readonly validate: (request: HarnessRequest) => Promise<HarnessVerdict>;
  /** Receives each established stream before its first message, with the registry's answer about its harness. */
  readonly onStream: (stream: RelayStream, verdict: HarnessVerdict) => void;
  /**
   * Whether to accept the reliability extension, so that streams survive lost connections. Only codexkit's harness offers
   * it. Default: true.
   */
  readonly reliability?: boolean | undefined;
  readonly limits?: Partial<RelayLimits> | undefined;
  readonly counters?: RelayCounters | undefined;
}

/** An established stream and its channel. A reliable stream that waits for its resumption has no channel. */
export interface AcceptedStream {
  readonly stream: EncryptedStream;
  channel: object | undefined;
}

/** State that the channels of one acceptor share. */
export interface AcceptorContext {
  readonly options: StreamAcceptorOptions;
  readonly limits: RelayLimits;
  readonly counters: RelayCounters;
  readonly streams: Map<string, AcceptedStream>;
  /** Recently ended streams, whose last frames may arrive late. */
  readonly endedStreams: BoundedSet<string>;
  /** Handshakes that are being validated, on all channels. */
  pendingValidations: number;
}
