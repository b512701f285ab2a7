import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { errorOf } from "../test/error-of.ts";
import { rawEnd } from "../test/raw-end.ts";
import type { TestWebSocketServer } from "../test/websocket-server.ts";
import { Peer, WebSocketTransport } from "./index.ts";
import { connection, serverWith } from "../test/websocket-connection.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("the end", () => {
  it.each([
    [1000, "bye"],
    [undefined, undefined],
  ])("by a clean close (%s) has no cause", async (code, reason) => {
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
    expect(await end.closed).toMatchObject({
      message: "The other side did not answer a ping within 1000 ms.",
    });
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
