import type { RelayLimits } from "../limits.ts";
import type { RelayPublicKey } from "../noise/identity.ts";
import type { StreamKeys } from "../noise/transcript.ts";
import type { RelayCounters } from "./counters.ts";

/** The current connection of a stream. */
export interface StreamLink {
  send(frame: Uint8Array): Promise<void> | undefined;
  readonly bufferedBytes: number;
  /** Stops and continues reading, if the connection carries no other stream. */
  setPaused(isPaused: boolean): void;
  /** Closes the connection, if it carries no other stream. */
  close(): Promise<void>;
}

export interface EncryptedStreamOptions {
  readonly role: "executor" | "harness";
  readonly streamId: string;
  readonly remoteKey: RelayPublicKey;
  readonly keys: StreamKeys;
  readonly link: StreamLink;
  /** Whether to offer (harness) or accept (executor) the reliability extension. */
  readonly isReliabilityEnabled: boolean;
  /** Whether a lost connection can be replaced. A reliable stream ends with its connection otherwise. */
  readonly canReconnect: boolean;
  readonly limits: RelayLimits;
  readonly counters: RelayCounters;
  /** The stream has ended. Called once. */
  readonly onEnd: () => void;
}
