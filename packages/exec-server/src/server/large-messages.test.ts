import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { manageLargeMessages } from "./large-messages.ts";

const KIB = 1024;

/** Far below the size of the messages, so that both ways of keeping them are used. */
const AS_READ_BYTES = 300 * KIB;

const http = createServer();
const upgrader = new WebSocketServer({ noServer: true, autoPong: false, perMessageDeflate: false });

beforeAll(async () => {
  http.on("upgrade", (request, socket: Socket, head) => {
    upgrader.handleUpgrade(request, socket, head, (server) => {
      manageLargeMessages(server, socket, AS_READ_BYTES);
      upgrader.emit("connection", server, request);
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
});
afterAll(() => http.close());

async function connect(): Promise<{ client: WebSocket; server: WebSocket; socket: Socket }> {
  const connected = once(upgrader, "connection");
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  const [server, { socket }] = (await connected) as [WebSocket, { socket: Socket }];
  if (client.readyState !== WebSocket.OPEN) await once(client, "open");
  return { client, server, socket };
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("messages in many reads", () => {
  const fragment = fc.integer({ min: 0, max: 200 * KIB });
  const fragments = fc.array(fc.record({ length: fragment, ping: fc.boolean() }), {
    minLength: 1,
    maxLength: 6,
  });

  test("arrive unchanged, however they are divided, and with pings in between", async () => {
    const { client, server } = await connect();
    // Kept until all have arrived: the memory of a message must not be reused for a later one.
    let kept: Buffer[] = [];
    server.on("message", (data: Buffer) => kept.push(data));
    server.on("ping", (data: Buffer) => server.pong(data));
    const pongs: string[] = [];
    client.on("pong", (data) => pongs.push(String(data)));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fragments, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        async (messages, pauses) => {
          kept = [];
          pongs.length = 0;
          const sent: string[] = [];
          const pings: string[] = [];
          if (pauses) server.pause();
          for (const [number, parts] of messages.entries()) {
            const content = parts.map(({ length }, index) => Buffer.alloc(length, `${number}.${index};`));
            sent.push(digest(Buffer.concat(content)));
            for (const [index, { ping }] of parts.entries()) {
              client.send(content[index] ?? "", { fin: index === parts.length - 1 });
              if (!ping) continue;
              pings.push(`ping ${number}.${index}`);
              client.ping(`ping ${number}.${index}`);
            }
          }
          const last = once(client, "pong");
          client.ping("last");
          if (pauses) server.resume();
          await last;
          while (pongs.at(-1) !== "last") await once(client, "pong");
          expect(kept.map(digest)).toEqual(sent);
          expect(pongs).toEqual([...pings, "last"]);
        },
      ),
      { numRuns: 40 },
    );
    client.terminate();
  });

  test("stay where a message or a ping refers to them", async () => {
    const { client, server, socket } = await connect();
    const pings: Buffer[] = [];
    server.on("ping", (data: Buffer) => pings.push(data));
    const message = once(server, "message");
    const read = async (send: () => void): Promise<void> => {
      const arrived = once(socket, "data");
      send();
      await arrived;
    };
    await read(() => client.ping("a ping in a read of its own"));
    // Not copied by `ws`, because all other fragments are empty.
    await read(() => client.send("the only content", { fin: false }));
    await read(() => client.send("", { fin: false }));
    await read(() => client.send("", { fin: true }));
    const [data] = (await message) as [Buffer];
    expect(String(data)).toBe("the only content");
    expect(pings.map(String)).toEqual(["a ping in a read of its own"]);
    client.terminate();
  });

  test("are freed once the message is complete", async () => {
    const { client, server, socket } = await connect();
    const reads: ArrayBufferLike[] = [];
    socket.prependListener("data", (read: Buffer) => reads.push(read.buffer));
    const message = once(server, "message");
    client.send(Buffer.alloc(900 * KIB, "x"));
    const [data] = (await message) as [Buffer];
    const others = reads.slice(0, -1).filter((memory) => memory !== reads.at(-1)) as ArrayBuffer[];
    expect(others.length).toBeGreaterThan(3);
    expect(others.every((memory) => memory.detached)).toBe(true);
    expect(digest(data)).toBe(digest(Buffer.alloc(900 * KIB, "x")));
    client.terminate();
  });

  test("are freed when the client disconnects before the message is complete", async () => {
    const { client, server, socket } = await connect();
    const reads = new Set<ArrayBuffer>();
    let received = 0;
    const enough = new Promise<void>((resolve) => {
      socket.prependListener("data", (read: Buffer) => {
        reads.add(read.buffer as ArrayBuffer);
        received += read.length;
        if (received >= 900 * KIB) resolve();
      });
    });
    client.send(Buffer.alloc(900 * KIB, "x"), { fin: false });
    await enough;
    client.terminate();
    await once(server, "close");
    expect([...reads].filter((memory) => !memory.detached)).toEqual([]);
  });
});
