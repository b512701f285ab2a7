import type { Socket } from "node:net";
import type { Writable } from "node:stream";

/** The sockets of one proxy, to end them with it. */
export class OpenSockets implements Disposable {
  readonly #open = new Set<Socket>();
  #over = false;

  get isOver(): boolean {
    return this.#over;
  }

  add(socket: Socket): void {
    // A peer may break a connection at any time; its `close` event reports it.
    socket.on("error", () => {});
    if (this.#over) {
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }

  [Symbol.dispose](): void {
    this.#over = true;
    for (const socket of this.#open) socket.destroy();
  }
}

/** Joins two connections. Each end of one is an end of the other, and a break of one breaks the other. */
export function join(left: Socket, right: Socket): void {
  left.pipe(right);
  right.pipe(left);
  left.once("close", (broke) => broke && right.destroy());
  right.once("close", (broke) => broke && left.destroy());
}

/** Sends the last bytes on a connection. Further input is discarded: unread input would keep the connection open. */
export function dismiss(socket: Socket, lastWords: string | Buffer): void {
  socket.end(lastWords);
  socket.resume();
}

/** Aborts when the client of a request has disconnected and its decision is no longer needed. */
export function goneSignal(client: Writable): AbortSignal {
  const gone = new AbortController();
  client.once("close", () => gone.abort());
  if (client.destroyed) gone.abort();
  return gone.signal;
}
