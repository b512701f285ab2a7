import type { WebSocket } from "ws";
import { timerDelay } from "./timer-delay.ts";

/**
 * Pings a WebSocket, and calls `onDead` if the peer has sent nothing since the last ping, not even a pong: a dead network may go
 * unnoticed otherwise. A paused socket is not checked, because its pongs are not read. Returns a function that stops the pings.
 */
export function startHeartbeat(
  socket: WebSocket,
  intervalMs: number,
  onDead: () => void = () => socket.terminate(),
): () => void {
  let isAlive = true;
  const markAlive = (): void => {
    isAlive = true;
  };
  socket.on("pong", markAlive);
  // A busy peer may queue its pong behind other messages, which prove just as well that it is alive.
  socket.on("message", markAlive);
  const timer = setInterval(() => {
    if (socket.isPaused) {
      markAlive();
    } else if (isAlive) {
      isAlive = false;
      // The callback receives the error if the socket is closing.
      socket.ping(() => {});
    } else {
      onDead();
    }
  }, timerDelay(intervalMs));
  timer.unref();
  return () => {
    clearInterval(timer);
    socket.off("pong", markAlive);
    socket.off("message", markAlive);
  };
}
