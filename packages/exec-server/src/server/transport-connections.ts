import type { Transport } from "@codexkit/rpc";
import type { EpochClaim } from "../session/epoch-fence.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { type ByteTransport, isByteTransport, transportSink } from "./message-sink.ts";
import { MessageWriter } from "./message-writer.ts";

export interface AcceptOptions {
  /** The largest message that the transport can carry. A request with a larger result gets an error instead. */
  readonly longestMessageBytes?: number;
  /**
   * On whose behalf the client is connected. Connections of the same subject with lower epochs are closed, and so is this one
   * if a higher epoch has been seen.
   */
  readonly claim?: EpochClaim | undefined;
}

/** Connections whose transport was opened by the caller. */
export class TransportConnections implements AsyncDisposable {
  readonly #options: ConnectionOptions;
  readonly #open = new Set<Transport>();
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  add(transport: Transport | ByteTransport, { longestMessageBytes, claim }: AcceptOptions): void {
    if (this.#isClosed) {
      void transport.close();
      return;
    }
    this.#open.add(transport);
    const cut = (): void => void transport.close();
    const sink = transportSink(transport, cut);
    const writer = new MessageWriter(sink, () => connection.relieved(), this.#options.limits);
    const inlet = { pause: () => transport.pause?.(), resume: () => transport.resume?.(), cut };
    const connection = new Connection(inlet, writer, {
      ...this.#options,
      claim,
      ...(longestMessageBytes === undefined ? {} : { longestMessageBytes }),
    });
    if (!connection.join()) cut();
    const closed = (): void => {
      this.#open.delete(transport);
      connection.ended();
    };
    if (isByteTransport(transport)) {
      transport.startBytes({ message: (bytes) => connection.receive(bytes), closed });
      return;
    }
    transport.start({
      text: (message) => connection.receive(Buffer.from(message)),
      malformed: (error) => connection.receiveMalformed(error.message),
      closed,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map((transport) => transport.close()));
  }
}
