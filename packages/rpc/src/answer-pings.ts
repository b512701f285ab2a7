import type { WebSocket } from "ws";

/** Unsent bytes above which pings get no answer. Far more than answers need whose reader is alive. */
const UNSENT_BYTES = 1024 * 1024;

/**
 * Answers the pings of a WebSocket that was created with `autoPong: false`. With its default, `ws` answers every ping, and a peer
 * that pings and reads nothing fills the memory. A ping that arrives while more than `maxUnsentBytes` wait gets no answer: the
 * peer can't read it in time, and answers to the newest ping are all that the protocol asks for.
 */
export function answerPings(socket: WebSocket, maxUnsentBytes = UNSENT_BYTES): void {
  socket.on("ping", (data) => {
    if (socket.bufferedAmount <= maxUnsentBytes) socket.pong(data);
  });
}
