import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { floodWithPings } from "../../test/flood-with-pings.ts";
import { dialChannel, type DialChannelOptions } from "./dial-channel.ts";
import type { FrameChannel } from "./frame-channel.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A rendezvous that does nothing by itself. */
async function rendezvous(options: { status?: number; autoPong?: boolean } = {}) {
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true, autoPong: options.autoPong ?? true });
  const requests: IncomingMessage[] = [];
  http.on("upgrade", (request, socket: Socket, head) => {
    requests.push(request);
    if (options.status === undefined) {
      sockets.handleUpgrade(request, socket, head, (ws) => sockets.emit("connection", ws, request));
    } else socket.end(`HTTP/1.1 ${options.status} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/secret-path`;
  return {
    url,
    requests,
    /** Connects a channel; also gives the server's side of it. */
    connect: async (dial: Partial<DialChannelOptions> = {}) => {
      const accepted = once(sockets, "connection") as Promise<[WebSocket, IncomingMessage]>;
      const [channel, [far, request]] = await Promise.all([
        dialChannel(url, { role: "harness", ...dial }),
        accepted,
      ]);
      return { channel, far, socket: request.socket };
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of sockets.clients) client.terminate();
      http.closeAllConnections();
      http.close();
    },
  };
}

/** Collects what a channel receives. */
function listen(channel: FrameChannel) {
  const frames: string[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<Error | undefined>();
  channel.start({ frame: (bytes) => frames.push(bytes.toString()), closed: resolve });
  return { frames, closed };
}

describe("a channel", () => {
  it("sends and receives binary messages in order, and misses none before its start", async () => {
    await using server = await rendezvous();
    const { channel, far } = await server.connect({ headers: { authorization: "Bearer t" } });
    expect(server.requests[0]?.headers.authorization).toBe("Bearer t");
    far.send(Buffer.from("early"));
    await new Promise<void>((resolve) => far.ping(undefined, undefined, () => resolve()));
    await nextTurn();
    const { frames, closed } = listen(channel);
    const received: string[] = [];
    far.on("message", (data: Buffer) => received.push(data.toString()));
    for (let i = 0; i < 50; i++) void channel.send(Buffer.from(`${i}`));
    far.send(Buffer.from("late"));
    await vi.waitUntil(() => frames.length === 2 && received.length === 50);
    expect(frames).toEqual(["early", "late"]);
    expect(received).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`));
    await channel.close();
    expect(await closed).toBeUndefined();
    expect(channel.send(Buffer.from("x"))).toBeUndefined();
  });

  it("answers pings, but not to a rendezvous that reads nothing", async () => {
    await using server = await rendezvous();
    const { channel, far } = await server.connect({ limits: { highWaterBytes: 1 } });
    listen(channel);
    far.ping("one");
    const [data] = (await once(far, "pong")) as [Buffer];
    expect(String(data)).toBe("one");
    await floodWithPings(far, () => void channel.send(Buffer.from("last")));
    await channel.close();
  });

  it("fails when the rendezvous leaves too much unread", async () => {
    await using server = await rendezvous();
    const { channel, far } = await server.connect({ limits: { bufferedBytes: 1_000_000 } });
    far.pause();
    const { closed } = listen(channel);
    const frame = Buffer.alloc(100_000);
    for (let sent = 0; sent < 500; sent++) void channel.send(frame);
    expect(await closed).toMatchObject({ code: "limit" });
  });

  it("sends the frames of one turn in one write", async () => {
    await using server = await rendezvous();
    const { channel, far, socket } = await server.connect();
    listen(channel);
    let chunks = 0;
    socket.prependListener("data", () => {
      chunks += 1;
    });
    let count = 0;
    far.on("message", () => {
      count += 1;
    });
    for (let i = 0; i < 100; i++) void channel.send(Buffer.alloc(100));
    await vi.waitUntil(() => count === 100);
    expect(chunks).toBeLessThan(5);
    await channel.close();
  });

  it("of a harness ends at a text message; an executor's ignores it", async () => {
    await using server = await rendezvous();
    const harness = await server.connect({ role: "harness" });
    const near = listen(harness.channel);
    harness.far.send("text");
    expect(await near.closed).toMatchObject({ code: "protocol_violation" });
    const executor = await server.connect({ role: "executor" });
    const other = listen(executor.channel);
    executor.far.send("text");
    executor.far.send(Buffer.from("frame"));
    await vi.waitUntil(() => other.frames.length === 1);
    await executor.channel.close();
  });

  it("ends at a message of more than 256 KiB", async () => {
    await using server = await rendezvous();
    const { channel, far } = await server.connect();
    const { closed, frames } = listen(channel);
    far.send(Buffer.alloc(256 * 1024));
    far.send(Buffer.alloc(256 * 1024 + 1));
    expect(await closed).toMatchObject({ code: "disconnected" });
    expect(frames).toHaveLength(1);
  });

  it("asks senders to wait while the other side does not read", async () => {
    await using server = await rendezvous();
    const { channel, far } = await server.connect();
    listen(channel);
    far.pause();
    let waiting: Promise<void> | undefined;
    const frame = Buffer.alloc(200_000);
    for (let i = 0; i < 1000 && !waiting; i++) {
      waiting = channel.send(frame);
      await nextTurn();
    }
    expect(waiting).toBeDefined();
    expect(channel.bufferedBytes).toBeLessThan(2_000_000);
    far.resume();
    await waiting;
    await channel.close();
  });

  it("that is paused stops reading", async () => {
    await using server = await rendezvous();
    const { channel, far } = await server.connect();
    channel.pause();
    const { frames } = listen(channel);
    far.send(Buffer.from("x"));
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(frames).toEqual([]);
    channel.resume();
    await vi.waitUntil(() => frames.length === 1);
    await channel.close();
  });

  it("reports the close code of the other side, but not its reason", async () => {
    await using server = await rendezvous();
    const { channel, far } = await server.connect();
    const { closed } = listen(channel);
    far.close(4000, "s3cret");
    const cause = (await closed) as Error;
    expect(cause).toMatchObject({ code: "disconnected", message: "The WebSocket closed with code 4000." });
  });
});

describe("keepalive", () => {
  /** A channel whose timers the test drives. */
  async function timed(autoPong: boolean) {
    const server = await rendezvous({ autoPong });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    return { server, ...(await server.connect()) };
  }

  it("ends a connection that answers no ping for 20 s", async () => {
    const { server, channel, far } = await timed(false);
    await using _server = server;
    const { closed } = listen(channel);
    const pinged = once(far, "ping");
    vi.advanceTimersByTime(10_000);
    await pinged;
    vi.advanceTimersByTime(10_000);
    expect(await closed).toMatchObject({ code: "timeout" });
  });

  it("keeps a connection that answers pings", async () => {
    const { server, channel, far } = await timed(true);
    await using _server = server;
    const { closed, frames } = listen(channel);
    for (let i = 0; i < 4; i++) {
      const pinged = once(far, "ping");
      vi.advanceTimersByTime(10_000);
      await pinged;
      far.send(Buffer.from("x"));
      while (frames.length <= i) await nextTurn();
    }
    await channel.close();
    expect(await closed).toBeUndefined();
  });

  it("ends a connection that accepts no data for 60 s", async () => {
    const { server, channel, far } = await timed(true);
    await using _server = server;
    const { closed } = listen(channel);
    far.pause();
    const frame = Buffer.alloc(200_000);
    for (let i = 0; i < 1000 && !channel.send(frame); i++) await nextTurn();
    // Until writes no longer complete.
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    for (let second = 0; second < 60; second += 10) {
      far.send(Buffer.from("still talking"));
      // The last ones are what keeps the silence from ending the connection first.
      for (let turn = 0; turn < 50; turn++) await nextTurn();
      vi.advanceTimersByTime(10_000);
    }
    expect(await closed).toMatchObject({
      code: "timeout",
      message: expect.stringContaining("accepted no data"),
    });
  });
});

describe("a dial", () => {
  it.each([
    [401, "unauthorized"],
    [403, "unauthorized"],
    [404, "refused"],
    [409, "refused"],
    [302, "connect_failed"],
    [503, "connect_failed"],
  ])("that is answered with %i rejects with %s, without the URL", async (status, code) => {
    await using server = await rendezvous({ status });
    const error = (await dialChannel(server.url, { role: "executor" }).catch(
      (thrown: unknown) => thrown,
    )) as Error;
    expect(error).toMatchObject({ code, message: expect.stringContaining(`${status}`) });
    expect(`${String(error.stack)}${JSON.stringify(error)}`).not.toContain("secret-path");
    expect(server.requests).toHaveLength(1);
  });

  it("rejects if there is no server, if it is aborted, and for a URL that is none", async () => {
    const nowhere = "ws://127.0.0.1:1/secret-path";
    const error = (await dialChannel(nowhere, { role: "harness" }).catch(
      (thrown: unknown) => thrown,
    )) as Error;
    expect(error).toMatchObject({ code: "connect_failed" });
    expect(error.cause).toBeUndefined();
    await using server = await rendezvous();
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(dialChannel(server.url, { role: "harness", signal })).rejects.toMatchObject({
      code: "aborted",
    });
    const later = new AbortController();
    const dialing = dialChannel(server.url, { role: "harness", signal: later.signal });
    later.abort();
    await expect(dialing).rejects.toMatchObject({ code: "aborted" });
    await expect(dialChannel("not a url", { role: "harness" })).rejects.toMatchObject({ code: "bad_option" });
  });
});
