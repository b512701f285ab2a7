import { once } from "node:events";
import { expect, vi } from "vitest";
import type { WebSocket } from "ws";

/** More than the buffers of both kernels and of the receiver can hold. */
const PINGS = 120_000;

/** Sends pings without reading the pongs. Expects that the peer has not kept all of them when its next message arrives. */
export async function floodWithPings(socket: WebSocket, sendMessage: () => void): Promise<void> {
  socket.pause();
  let pongs = 0;
  socket.on("pong", () => (pongs += 1));
  for (let ping = 0; ping < PINGS; ping++) socket.ping(Buffer.alloc(125));
  await vi.waitFor(() => expect(socket.bufferedAmount).toBe(0), { timeout: 30_000 });
  socket.resume();
  sendMessage();
  await once(socket, "message");
  expect(pongs).toBeLessThan(PINGS);
}
