import type { RelayLimits } from "../limits.ts";
import type { RelayIdentity, RelayPublicKey } from "../noise/identity.ts";
import type { RelayCounters } from "./counters.ts";
import type { FrameChannel } from "./frame-channel.ts";

export interface OpenStreamOptions {
  readonly identity: RelayIdentity;
  /** The executor's public key, from the registry. */
  readonly executorKey: RelayPublicKey;
  readonly environmentId: string;
  readonly registrationId: string;
  /** The registry's authorization of this harness's key. Sent to the executor alone. */
  readonly authorization: string;
  /** Default: a random UUID. */
  readonly streamId?: string | undefined;
  /**
   * Whether to offer the reliability extension, which Codex's executor ignores. Default: true.
   */
  readonly reliability?: boolean | undefined;
  /**
   * Makes a new connection, possibly to another rendezvous, after one was lost; without it, the stream ends. Called again
   * after a delay if it rejects with `connect_failed`, `disconnected`, `environment_offline` or `timeout`; any other
   * rejection ends the stream. Only used if the executor agreed to the reliability extension.
   */
  readonly reconnect?: ((signal: AbortSignal) => Promise<FrameChannel>) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<RelayLimits> | undefined;
  readonly counters?: RelayCounters | undefined;
}
