import type { WebSocket } from "ws";

export const CLOSE = { normal: 1000, goingAway: 1001, refused: 1008 } as const;

/** How long a client has to close its side when the daemon closes. */
export const CLOSE_MS = 1000;

/** Problems and pongs that wait for a client to read them. */
const MAX_UNSENT_REPLIES = 1000;

/** Ends a connection whose client causes replies and does not read them: they would fill the memory. */
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

/** Terminates connections whose client has disappeared. A paused one is not pinged, because its pong would wait as well. */
export function startHeartbeat(socket: WebSocket, everyMs: number): () => void {
  let hasAnswered = true;
  socket.on("pong", () => {
    hasAnswered = true;
  });
  const timer = setInterval(() => {
    if (socket.isPaused) return;
    if (!hasAnswered) return socket.terminate();
    hasAnswered = false;
    socket.ping();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
