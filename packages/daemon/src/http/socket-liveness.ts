import type { WebSocket } from "ws";

export const CLOSE = { normal: 1000, goingAway: 1001, refused: 1008 } as const;

/** How long a client has to close its side when the daemon closes. */
export const CLOSE_MS = 1000;

/** Maximum number of problems and pongs that a client has not read yet. */
const MAX_UNSENT_REPLIES = 1000;

/**
 * Terminates the connection of a client that causes replies without reading them, because they would fill the memory.
 */
export class Replies {
  readonly #socket: WebSocket;
  #unsent = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  add(send: (onSent: () => void) => void): void {
    if (this.#unsent >= MAX_UNSENT_REPLIES) return this.#socket.terminate();
    this.#unsent += 1;
    send(() => {
      this.#unsent -= 1;
    });
  }
}
