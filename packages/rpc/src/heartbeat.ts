import type { WebSocket } from "ws";
import { timerDelay } from "./timer-delay.ts";

/**
 * Pings a WebSocket, and calls back if the peer has sent nothing since the last ping, not even the pong: the network may be dead
 * without this side having noticed. A paused socket is not checked, because its pongs are not read. Returns a function that stops.
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
  // A pong may be queued behind other messages of a busy peer, which prove as much.
  socket.on("message", markAlive);
  const timer = setInterval(() => {
    if (socket.isPaused) {
      markAlive();
    } else if (isAlive) {
      isAlive = false;
      // A socket that is closing reports the error of a ping here.
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
