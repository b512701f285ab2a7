import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { errorOf } from "../test/error-of.ts";
import { rawEnd } from "../test/raw-end.ts";
import { webSocketServer } from "../test/websocket-server.ts";
import { Peer, WebSocketTransport } from "./index.ts";
import { connection, twoPeers, serverWith } from "../test/websocket-connection.ts";

const KB = 1024;

const MB = KB * KB;

describe("two peers", () => {
  it("call each other over TCP", async () => {
    await using server = await serverWith();
    const [a, b] = await twoPeers(server);
    a.handle("who", () => "a");
    b.handle("who", () => "b");
    expect(await Promise.all([a.request("who"), b.request("who")])).toEqual(["b", "a"]);
    await Promise.all([a.close(), b.close()]);
  });

  it("call each other over a unix socket", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "rpc-"));
    await using server = await webSocketServer({ socketPath: join(folder.path, "socket") });
    const [a, b] = await twoPeers(server);
    b.handle("echo", (params) => params);
    const calls = Array.from({ length: 500 }, (_, i) => a.request("echo", `${i} é`));
    expect(await Promise.all(calls)).toEqual(calls.map((_, i) => `${i} é`));
    await a.close();
    expect((await b.closed).message).toBe("The other side closed the connection.");
  });

  it("exchange messages of many MB, both ways at once", async () => {
    await using server = await serverWith();
    const [a, b] = await twoPeers(server);
    a.handle("size", (params) => (params as string).length);
    b.handle("size", (params) => (params as string).length);
    const big = "x".repeat(8 * MB);
    const calls = Array.from({ length: 4 }, () => [a.request("size", big), b.request("size", big)]).flat();
    expect(await Promise.all(calls)).toEqual(calls.map(() => 8 * MB));
    await a.close();
  });
});

describe("frames", () => {
  it("that are binary are anomalies, and the connection continues", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const end = rawEnd(transport);
    far.send(Buffer.from('{"id":1}'));
    far.send('{"id":2}');
    expect(await end.next()).toEqual({ id: 2 });
    expect(end.anomalies.map(({ code }) => code)).toEqual(["malformed"]);
    await end.close();
  });

  it("may arrive as fragments or array buffers, whatever the socket's setting", async () => {
    await using server = await serverWith();
    for (const binaryType of ["nodebuffer", "arraybuffer", "fragments"] as const) {
      const { transport, far } = await connection(server);
      far.binaryType = binaryType;
      const end = rawEnd(new WebSocketTransport(far));
      const near = rawEnd(transport);
      near.send({ text: "é" });
      expect(await end.next()).toEqual({ text: "é" });
      await near.close();
    }
  });

  it("are not lost between the socket and the start", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    far.send('{"id":1}');
    far.send('{"id":2}', () => {});
    far.ping();
    await nextTurn();
    const end = rawEnd(transport);
    expect(end.unread).toEqual([]);
    expect([await end.next(), await end.next()]).toEqual([{ id: 1 }, { id: 2 }]);
    await end.close();
  });

  it("arrive even if the transport was started before its socket was open", async () => {
    await using server = await webSocketServer({ onConnection: (socket) => socket.send('{"id":1}') });
    const end = rawEnd(new WebSocketTransport(new WebSocket(server.url)));
    expect(await end.next()).toEqual({ id: 1 });
    await end.close();
  });

  it("that are not UTF-8 end the connection", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const end = rawEnd(transport);
    const farClosed = once(far, "close");
    far.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect(await end.closed).toMatchObject({ code: "WS_ERR_INVALID_UTF8" });
    expect((await farClosed)[0]).toBe(1007);
  });
});

describe("messageBytes", () => {
  it("ends the connection for a larger frame: 1009 for one side, message_too_large for both", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server, { messageBytes: 1 * KB });
    const a = new Peer(transport);
    const b = new Peer(new WebSocketTransport(far));
    b.handle("big", () => "x".repeat(2 * KB));
    const error = await errorOf(a.request("big"));
    expect(error).toMatchObject({ code: "closed", cause: { code: "message_too_large" } });
    const farError = await b.closed;
    expect(farError).toMatchObject({ code: "closed", cause: { code: "message_too_large" } });
    expect(farError.message).toContain("1009");
  });

  it("applies even if the server has a larger limit", async () => {
    await using server = await serverWith({ maxPayload: 1 * MB });
    const { transport, far } = await connection(server);
    const end = rawEnd(new WebSocketTransport(far, { messageBytes: 100 }));
    const near = rawEnd(transport);
    near.send({ id: 1 });
    near.send({ text: "é".repeat(60) });
    near.send({ id: 2 });
    expect(await end.closed).toMatchObject({ code: "message_too_large" });
    expect(end.unread).toEqual([{ id: 1 }]);
    expect(await near.closed).toMatchObject({ code: "message_too_large" });
  });

  it("rejects a call that is too large, and the connection continues", async () => {
    await using server = await serverWith();
    const [a, b] = await twoPeers(server, { messageBytes: 1 * KB });
    b.handle("echo", (params) => params);
    expect((await errorOf(a.request("echo", "x".repeat(1 * KB)))).code).toBe("message_too_large");
    expect(await a.request("echo", "small")).toBe("small");
    await a.close();
  });

  it("notifies the peer at once, even if the other side never answers the close", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server, { messageBytes: 100, closeTimeoutMs: 5 });
    const end = rawEnd(transport);
    far.send("x".repeat(200), () => far.pause());
    expect(await end.closed).toMatchObject({ code: "message_too_large" });
    await end.close();
  });
});

describe("bufferedBytes", () => {
  it("makes the sender wait for a stalled reader, then rejects, and continues once it reads", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server, { bufferedBytes: 4 * MB });
    const end = rawEnd(transport);
    far.pause();
    const message = JSON.stringify("x".repeat(256 * KB));
    const waits: Promise<void>[] = [];
    let sent = 0;
    const fill = async (): Promise<void> => {
      while (true) {
        const wait = transport.send(message);
        sent += 1;
        if (wait) waits.push(wait);
        await nextTurn();
      }
    };
    expect((await errorOf(fill())).code).toBe("queue_full");
    expect(waits.length).toBeGreaterThan(0);
    let received = 0;
    const allReceived = new Promise<void>((resolve) => {
      far.on("message", () => {
        received += 1;
        if (received === sent) resolve();
      });
    });
    far.resume();
    await Promise.all([...waits, allReceived]);
    expect(transport.send("{}")).toBeUndefined();
    await end.close();
  });

  it("releases a waiting sender when the connection is cut", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const end = rawEnd(transport);
    far.pause();
    const message = JSON.stringify("x".repeat(MB));
    let wait: Promise<void> | undefined;
    while (!wait) wait = transport.send(message);
    far.terminate();
    await wait;
    await end.closed;
    expect(end.closedCalls).toBe(1);
  });
});
