import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { TERMINAL_LIMITS } from "../terminals/limits.ts";
import { createUpgradeHandler } from "./upgrade.ts";

const REQUEST = [
  "GET /x HTTP/1.1",
  "Host: x",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  `Sec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}`,
  "\r\n",
].join("\r\n");

/** A server that rejects all upgrades and responds to all other requests. */
async function startServer() {
  const server = createServer((_, response) => response.end("healthy"));
  server.on(
    "upgrade",
    createUpgradeHandler({
      fetch: async () => new Response("no", { status: 401 }),
      limits: TERMINAL_LIMITS,
      heartbeatMs: 60_000,
      proxyTimeoutMs: 60_000,
      closing: new AbortController().signal,
    }),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

test("clients that reset the connection of a refused upgrade don't end the process", async () => {
  await using server = await startServer();
  for (let count = 0; count < 50; count += 1) {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(REQUEST, () => socket.resetAndDestroy());
    await once(socket, "close");
  }
  expect(await (await fetch(`http://127.0.0.1:${server.port}`)).text()).toBe("healthy");
});

test("the connection of a refused upgrade is closed, also if the client keeps its side open", async () => {
  await using server = await startServer();
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.write(REQUEST);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 401 /);
  // The server has closed the connection, so further data causes a reset.
  const writing = setInterval(() => socket.write("x"), 10);
  await new Promise<void>((resolve) => void socket.on("error", () => {}).on("close", () => resolve()));
  clearInterval(writing);
});
