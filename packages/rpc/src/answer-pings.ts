import type { WebSocket } from "ws";

/** Unsent bytes above which pings are not answered. Far more than pongs take up while the peer is reading. */
const UNSENT_BYTES = 1024 * 1024;

/**
 * Answers the pings of a WebSocket that was created with `autoPong: false`. By default, `ws` answers every ping, so a peer that
 * pings without reading fills the memory. A ping that arrives while more than `maxUnsentBytes` are unsent is not answered: the
 * peer can't read the pong in time, and the protocol only requires an answer to the newest ping.
 */
export function answerPings(socket: WebSocket, maxUnsentBytes = UNSENT_BYTES): void {
  socket.on("ping", (data) => {
    if (socket.bufferedAmount <= maxUnsentBytes) socket.pong(data);
  });
}
