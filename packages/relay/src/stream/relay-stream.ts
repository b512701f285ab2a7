import type { Transport, TransportReceiver } from "@codexkit/rpc";
import type { RelayPublicKey } from "../noise/identity.ts";
import type { MessageReceiver } from "./message-queue.ts";

/**
 * An established, end-to-end encrypted stream of JSON-RPC messages. It is a `Transport`, and offers the bytes of messages
 * to a reader or writer that would only convert them to text and back.
 */
export interface RelayStream extends Transport {
  readonly streamId: string;
  /** The public key that the other end has proven to own. */
  readonly remoteKey: RelayPublicKey;
  /** Whether both ends agreed on the reliability extension, so that the stream survives the loss of a connection. */
  readonly isResumable: boolean;
  /** Bytes that have not left this process, or that the other end has not acknowledged. */
  readonly bufferedBytes: number;
  start(receiver: TransportReceiver): void;
  /** The same as `start`, for a reader of bytes. */
  startBytes(receiver: MessageReceiver): void;
  /**
   * Sends one message. The messages of one event-loop turn leave together. Returns a promise only if the other side reads
   * slowly: await it before sending more. A buffer may be reused as soon as this returns.
   */
  send(message: string | Uint8Array): Promise<void> | undefined;
  /** Sends the messages of this turn now. */
  flush(): void;
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}
