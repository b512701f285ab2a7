import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ServerOptions, WebSocket } from "ws";
import { errorOf } from "../test/error-of.ts";
import { rawEnd } from "../test/raw-end.ts";
import { type TestWebSocketServer, webSocketServer } from "../test/websocket-server.ts";
import { connectWebSocket, Peer, type RpcLimits, WebSocketTransport } from "./index.ts";

const KB = 1024;
const MB = KB * KB;

/** A client transport over a real connection, and the server's bare socket. */
async function connection(
  server: TestWebSocketServer,
  limits: Partial<RpcLimits> = {},
): Promise<{ transport: WebSocketTransport; far: WebSocket }> {
  const [transport, far] = await Promise.all([connectWebSocket(server.url, { limits }), server.nextSocket()]);
  return { transport, far };
}

async function twoPeers(server: TestWebSocketServer, limits: Partial<RpcLimits> = {}): Promise<[Peer, Peer]> {
  const { transport, far } = await connection(server, limits);
  return [new Peer(transport, { limits }), new Peer(new WebSocketTransport(far, limits), { limits })];
}

function serverWith(options: ServerOptions = {}): Promise<TestWebSocketServer> {
  return webSocketServer(options);
}

afterEach(() => {
  vi.useRealTimers();
});

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

describe("the end", () => {
  it.each([
    [1000, "bye"],
    [undefined, undefined],
  ])("in good order (%s) has no cause", async (code, reason) => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const end = rawEnd(transport);
    far.close(code, reason);
    expect(await end.closed).toBeUndefined();
    expect(end.closedCalls).toBe(1);
  });

  it("with another code reports code and reason", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const peer = new Peer(transport);
    const pending = errorOf(peer.request("m"));
    far.close(4001, "signed out");
    expect(await pending).toMatchObject({
      code: "closed",
      message: "The connection broke: The WebSocket closed with code 4001: signed out.",
    });
    expect(await peer.closed).toBe(await pending);
  });

  it("by a server that drops the connection is code 1006", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const peer = new Peer(transport);
    const errors = Promise.all([errorOf(peer.request("a")), errorOf(peer.request("b"))]);
    far.once("message", () => far.terminate());
    const [a, b] = await errors;
    expect(a).toBe(b);
    expect(a.cause).toMatchObject({ message: "The WebSocket closed with code 1006." });
  });

  it("before the start is reported after it, with the cause", async () => {
    await using server = await serverWith();
    const { far } = await connection(server);
    const transport = new WebSocketTransport(far);
    far.terminate();
    await once(far, "close");
    const end = rawEnd(transport);
    expect(end.closedCalls).toBe(0);
    expect(await end.closed).toMatchObject({ message: "The WebSocket closed with code 1006." });
    expect(end.closedCalls).toBe(1);
    expect(() => end.send({})).toThrow(expect.objectContaining({ code: "closed" }));
  });

  it("keeps its reason when a handler answers while the connection closes", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const peer = new Peer(transport);
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    peer.handle("wait", () => {
      onAsked();
      return gate.promise;
    });
    far.send('{"id":0,"method":"wait"}');
    await asked;
    // The paused server does not complete the closing handshake before the handler has answered.
    far.close(4002, "moved");
    far.pause();
    const notifyOn = async (): Promise<void> => {
      while (true) {
        await peer.notify("still open");
        await nextTurn();
      }
    };
    expect((await errorOf(notifyOn())).code).toBe("closed");
    gate.resolve();
    await nextTurn();
    far.resume();
    expect((await peer.closed).message).toContain("4002: moved");
  });
});

describe("close", () => {
  it("sends the buffered messages, and both sides end cleanly", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const end = rawEnd(transport);
    const farEnd = rawEnd(new WebSocketTransport(far));
    for (let id = 0; id < 100; id++) end.send({ id });
    await Promise.all([end.close(), end.close()]);
    await end.close();
    expect(await farEnd.closed).toBeUndefined();
    expect(farEnd.unread).toHaveLength(100);
    expect([end.closedCalls, farEnd.closedCalls]).toEqual([1, 1]);
  });

  it("of a transport that was never started resolves", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const farClosed = once(far, "close");
    await transport.close();
    expect((await farClosed)[0]).toBe(1000);
  });

  it("drops the connection after closeTimeoutMs if the other side does not answer", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server, { closeTimeoutMs: 5 });
    const end = rawEnd(transport);
    far.pause();
    await end.close();
    expect(end.closedCalls).toBe(1);
  });

  it("by a peer ends delivery immediately, even if messages still arrive", async () => {
    await using server = await serverWith();
    const { transport, far } = await connection(server);
    const peer = new Peer(transport);
    const received: unknown[] = [];
    peer.on("late", (params) => received.push(params));
    far.send('{"method":"late"}');
    const closing = peer.close();
    far.send('{"method":"late"}');
    await closing;
    expect(received).toEqual([]);
  });
});

describe("the heartbeat", () => {
  /** A server transport with a fake clock, and a client that answers pings or does not. */
  async function watched(server: TestWebSocketServer, { autoPong }: { autoPong: boolean }) {
    const client = new WebSocket(server.url, { autoPong });
    const [socket] = await Promise.all([server.nextSocket(), once(client, "open")]);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const end = rawEnd(new WebSocketTransport(socket, { heartbeatIntervalMs: 1000 }));
    return { client, socket, end };
  }

  it("ends a connection whose other side does not answer pings", async () => {
    await using server = await serverWith();
    const { client, end } = await watched(server, { autoPong: false });
    const pinged = once(client, "ping");
    vi.advanceTimersByTime(1000);
    await pinged;
    expect(end.closedCalls).toBe(0);
    vi.advanceTimersByTime(1000);
    expect(await end.closed).toMatchObject({ message: "The other side answered no ping within 1000 ms." });
    await once(client, "close");
    expect(end.closedCalls).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("keeps a quiet connection whose other side answers pings", async () => {
    await using server = await serverWith();
    const { socket, end } = await watched(server, { autoPong: true });
    for (let beat = 0; beat < 5; beat++) {
      const ponged = once(socket, "pong");
      vi.advanceTimersByTime(1000);
      await ponged;
    }
    expect(end.closedCalls).toBe(0);
    await end.close();
  });

  it("counts messages as a sign of life", async () => {
    await using server = await serverWith();
    const { client, end } = await watched(server, { autoPong: false });
    for (let beat = 0; beat < 5; beat++) {
      vi.advanceTimersByTime(1000);
      client.send("{}");
      await end.next();
    }
    expect(end.closedCalls).toBe(0);
    await end.close();
  });

  it("keeps a paused connection, which can't read pongs", async () => {
    await using server = await serverWith();
    const client = new WebSocket(server.url, { autoPong: false });
    const [socket] = await Promise.all([server.nextSocket(), once(client, "open")]);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const transport = new WebSocketTransport(socket, { heartbeatIntervalMs: 1000 });
    const end = rawEnd(transport);
    transport.pause();
    await new Promise<void>((sent) => client.send('{"id":1}', () => sent()));
    for (let beat = 0; beat < 5; beat++) {
      vi.advanceTimersByTime(1000);
      await nextTurn();
    }
    expect(end.unread).toEqual([]);
    expect(end.closedCalls).toBe(0);
    transport.resume();
    expect(await end.next()).toEqual({ id: 1 });
    await end.close();
  });

  it("stops with the connection", async () => {
    await using server = await serverWith();
    const { end } = await watched(server, { autoPong: true });
    expect(vi.getTimerCount()).toBe(1);
    await end.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
