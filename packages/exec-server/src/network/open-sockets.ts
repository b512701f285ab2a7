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
    // A peer may break a connection at any time; whoever waits for it hears of its close.
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

/** Says the last words on a connection. What still comes is let go by: an end that nobody reads would keep it open. */
export function dismiss(socket: Socket, lastWords: string | Buffer): void {
  socket.end(lastWords);
  socket.resume();
}

/** Fires when the client of a request is gone: nobody waits for its decision any more. */
export function goneSignal(client: Writable): AbortSignal {
  const gone = new AbortController();
  client.once("close", () => gone.abort());
  if (client.destroyed) gone.abort();
  return gone.signal;
}
