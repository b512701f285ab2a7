import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { NodeLinks } from "./node-links.ts";

const IDENTITY = {
  grantId: "g",
  environmentId: "e",
  registrationId: "r",
  tokenId: "t",
  harnessKeyHash: "h",
};

test("a connection that is being opened while the node shuts down is closed", async () => {
  const links = new NodeLinks(Buffer.alloc(32));
  const server = createServer();
  server.on("upgrade", (_request, other) => {
    links.close();
    other.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    other.on("error", () => {}).resume();
    other.on("end", () => other.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  const request = {
    headers: { "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-version": "13" },
  } as unknown as IncomingMessage;
  const target = { nodeId: "n", nodeUrl: `http://127.0.0.1:${port}` };
  const incoming = { request, socket, head: Buffer.alloc(0) };
  expect(await links.open(target, IDENTITY, incoming, () => {})).toBe(false);
  expect(links.size).toBe(0);
  // Ends only when the connection to the other node has ended.
  server.close();
  await once(server, "close");
});
