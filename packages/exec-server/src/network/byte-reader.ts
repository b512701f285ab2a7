import type { Socket } from "node:net";

/**
 * Reads a fixed number of bytes at a time from a socket. Unread bytes are returned to the socket at the end.
 */
export class ByteReader implements Disposable {
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #ended: boolean;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#ended = socket.readableEnded || socket.destroyed;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onEnd);
  }

  /**
   * Reads exactly `length` bytes. Resolves to undefined if the connection ends first. Supports one call at a
   * time.
   */
  async read(length: number): Promise<Buffer | undefined> {
    while (this.#bytes.length < length) {
      if (this.#ended) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  [Symbol.dispose](): void {
    this.#socket.off("data", this.#onData);
    this.#socket.off("end", this.#onEnd);
    this.#socket.off("close", this.#onEnd);
    this.#socket.pause();
    if (this.#bytes.length > 0 && !this.#ended) this.#socket.unshift(this.#bytes);
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    this.#wake();
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#wake();
  };
}
