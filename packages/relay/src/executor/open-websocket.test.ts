import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { onTestFinished, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { floodWithPings } from "../../test/flood-with-pings.ts";
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
  await floodWithPings(far, () => socket.send("last"));
});
