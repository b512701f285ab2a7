import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { openWebSocket } from "./open-websocket.ts";

test("a server that sends pings without reading receives a limited number of pongs", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestFinished(async () => {
    server.close();
    await once(server, "close");
  });
  await once(server, "listening");
  const connected = once(server, "connection") as Promise<[WebSocket]>;
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  const socket = await openWebSocket(`ws://127.0.0.1:${port}`, { headers: {}, maxPayload: 1_000, signal });
  const [far] = await connected;
  onTestFinished(() => {
    socket.terminate();
    far.terminate();
  });
  socket.resume();
  far.pause();
  let pongs = 0;
  far.on("pong", () => (pongs += 1));
  // More than the buffers of both kernels and of this end can hold.
  const pings = 120_000;
  for (let ping = 0; ping < pings; ping++) far.ping(Buffer.alloc(125));
  await vi.waitFor(() => expect(far.bufferedAmount).toBe(0), { timeout: 30_000 });
  far.resume();
  socket.send("last");
  await once(far, "message");
  expect(pongs).toBeLessThan(pings);
});
