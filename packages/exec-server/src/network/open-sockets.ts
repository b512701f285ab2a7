import type { Socket } from "node:net";
import type { Writable } from "node:stream";

/** The sockets of one proxy, which are closed together with it. */
export class OpenSockets implements Disposable {
  readonly #open = new Set<Socket>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(socket: Socket): void {
    // A peer may reset a connection at any time; its `close` event reports it.
    socket.on("error", () => {});
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const socket of this.#open) socket.destroy();
  }
}

/** Joins two connections in both directions. A half-close or a reset of one is passed on to the other. */
export function join(left: Socket, right: Socket): void {
  left.pipe(right);
  right.pipe(left);
  left.once("close", (broke) => broke && right.destroy());
  right.once("close", (broke) => broke && left.destroy());
}

/**
 * Sends the last bytes on a connection. Discards further input, because unread input would keep the
 * connection open.
 */
export function dismiss(socket: Socket, lastWords: string | Buffer): void {
  socket.end(lastWords);
  socket.resume();
}

/**
 * Returns a signal that aborts when the client of a request disconnects and its decision is no longer needed.
 */
export function disconnectSignal(client: Writable): AbortSignal {
  const gone = new AbortController();
  client.once("close", () => gone.abort());
  if (client.destroyed) gone.abort();
  return gone.signal;
}
