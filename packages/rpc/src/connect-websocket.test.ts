import { createHash } from "node:crypto";
import { getEventListeners, once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { rawEnd } from "../test/raw-end.ts";
import { rawServer, webSocketServer } from "../test/websocket-server.ts";
import { connectWebSocket, Peer } from "./index.ts";

/** A server that answers the upgrade request with this text. */
function answering(text: string, then: (socket: Socket) => void = (socket) => socket.end()) {
  return rawServer((socket) => {
    socket.once("data", () => socket.write(text, () => then(socket)));
  });
}

describe("connecting", () => {
  it("sends the token and the headers", async () => {
    const { promise: upgrade, resolve } = Promise.withResolvers<IncomingMessage>();
    await using server = await webSocketServer({
      verifyClient: ({ req }: { req: IncomingMessage }) => {
        resolve(req);
        return true;
      },
    });
    const transport = await connectWebSocket(new URL(server.url), {
      token: "secret",
      headers: { "x-client": "test" },
    });
    expect((await upgrade).headers).toMatchObject({ authorization: "Bearer secret", "x-client": "test" });
    expect((await upgrade).headers["sec-websocket-extensions"]).toBeUndefined();
    await transport.close();
  });

  it("answers pings, but not to a server that reads nothing", async () => {
    await using server = await webSocketServer();
    const [transport, far] = await Promise.all([connectWebSocket(server.url), server.nextSocket()]);
    const end = rawEnd(transport);
    far.ping("one");
    const [data] = (await once(far, "pong")) as [Buffer];
    expect(String(data)).toBe("one");
    far.pause();
    let pongs = 0;
    far.on("pong", () => (pongs += 1));
    // More than both kernels and the client can buffer.
    const pings = 120_000;
    for (let ping = 0; ping < pings; ping++) far.ping(Buffer.alloc(125));
    await new Promise<void>((resolve) => far.send('{"method":"sent"}', () => resolve()));
    expect(await end.next()).toEqual({ method: "sent" });
    far.resume();
    end.send({ method: "received" });
    await once(far, "message");
    expect(pongs).toBeLessThan(pings);
    await end.close();
  });

  it("loses no frame that follows the handshake", async () => {
    await using server = await webSocketServer({
      onConnection: (socket) => {
        for (let id = 0; id < 50; id++) socket.send(JSON.stringify({ id }));
      },
    });
    const transport = await connectWebSocket(server.url);
    // The caller may receive the transport any number of microtasks later.
    await nextTurn();
    const end = rawEnd(transport);
    for (let id = 0; id < 50; id++) expect(await end.next()).toEqual({ id });
    await end.close();
  });

  it("loses no frame in the same packet as the handshake, nor the close after it", async () => {
    await using server = await rawServer((socket) => {
      socket.once("data", (request: Buffer) => {
        const key = /sec-websocket-key: (?<key>\S+)/i.exec(request.toString())?.groups?.["key"] ?? "";
        const accept = createHash("sha1")
          .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
          .digest("base64");
        const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
        const text = Buffer.from('{"id":"first"}');
        const close = Buffer.from([0x88, 2, 0x0f, 0xa0]);
        socket.write(Buffer.concat([Buffer.from(head), Buffer.from([0x81, text.length]), text, close]));
      });
    });
    const end = rawEnd(await connectWebSocket(server.url, { limits: { closeTimeoutMs: 5 } }));
    expect(await end.next()).toEqual({ id: "first" });
    await end.close();
    expect(end.closedCalls).toBe(1);
  });

  it("uses a zero mask for local connections only", async () => {
    const masks: Buffer[] = [];
    const answer = (socket: Socket): void => {
      socket.once("data", (request: Buffer) => {
        const key = /sec-websocket-key: (?<key>\S+)/i.exec(request.toString())?.groups?.["key"] ?? "";
        const accept = createHash("sha1")
          .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
          .digest("base64");
        socket.once("data", (frame: Buffer) => {
          masks.push(frame.subarray(2, 6));
          socket.destroy();
        });
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
        );
      });
    };
    await using server = await rawServer(answer);
    // A host name may resolve to another machine.
    for (const url of [server.url, server.url.replace("127.0.0.1", "localhost")]) {
      const peer = new Peer(await connectWebSocket(url));
      await peer.notify("n");
      await peer.closed;
    }
    expect(masks[0]).toEqual(Buffer.alloc(4));
    expect(masks[1]).not.toEqual(Buffer.alloc(4));
  });

  it.each(["socket", "a b", "a:b", "a#b?c=d", "a%20b", "日本"])(
    "connects to a unix socket named %s, given as a string or a URL",
    async (name) => {
      await using folder = await mkdtempDisposable(join(tmpdir(), "rpc-"));
      const socketPath = join(folder.path, name);
      await using server = await webSocketServer({ socketPath });
      const asUrl = new URL(pathToFileURL(socketPath).href.replace(/^file:/, "unix:"));
      for (const address of [`unix://${socketPath}`, asUrl]) {
        const [transport, far] = await Promise.all([connectWebSocket(address), server.nextSocket()]);
        await using peer = new Peer(transport);
        far.on("message", () => far.send('{"id":0,"result":"found"}'));
        expect(await peer.request("m")).toBe("found");
      }
    },
  );
});

describe("infinite limits", () => {
  it("let the connection open, work and close cleanly", async () => {
    await using server = await webSocketServer();
    const transport = await connectWebSocket(server.url, {
      connectTimeoutMs: Infinity,
      limits: { heartbeatIntervalMs: Infinity, closeTimeoutMs: Infinity },
    });
    const end = rawEnd(transport);
    await end.close();
    expect(await end.closed).toBeUndefined();
  });
});

describe("a connection that can't be made", () => {
  it("reports that it was refused", async () => {
    const url = "ws://127.0.0.1:1/";
    const error = await errorOf(connectWebSocket(url));
    expect(error).toMatchObject({ code: "connect_failed", cause: { code: "ECONNREFUSED" } });
    expect(error.message).toContain(`Could not connect to ${url}: `);
  });

  it("reports that the socket does not exist", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "rpc-"));
    const error = await errorOf(connectWebSocket(`unix://${join(folder.path, "none")}`));
    expect(error).toMatchObject({ code: "connect_failed", cause: { code: "ENOENT" } });
  });

  it("quotes the server's refusal", async () => {
    await using server = await answering(
      "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nToken expired.",
    );
    const error = await errorOf(connectWebSocket(server.url, { token: "secret" }));
    expect(error.code).toBe("connect_failed");
    expect(error.message).toBe(`Could not connect to ${server.url}: the server answered 401: Token expired.`);
  });

  it("quotes a refusal without a body, and one with a truncated body", async () => {
    await using bare = await answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    expect((await errorOf(connectWebSocket(bare.url))).message).toMatch(/the server answered 503$/);
    await using broken = await answering(
      "HTTP/1.1 500 Oops\r\nContent-Length: 500\r\n\r\nIt broke",
      (socket) => socket.destroy(),
    );
    expect((await errorOf(connectWebSocket(broken.url))).message).toMatch(
      /the server answered 500: It broke$/,
    );
  });

  it("quotes the start of a refusal that never ends", async () => {
    await using server = await answering(
      `HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n${"x".repeat(1024)}\r\n`,
      () => {},
    );
    const { message } = await errorOf(connectWebSocket(server.url));
    expect(message).toContain(`403: ${"x".repeat(300)}`);
    expect(message).not.toContain("x".repeat(301));
  });

  it("fails after connectTimeoutMs if the server is silent", async () => {
    const { promise: connected, resolve } = Promise.withResolvers<Socket>();
    await using server = await rawServer(resolve);
    const error = await errorOf(connectWebSocket(server.url, { connectTimeoutMs: 20 }));
    expect(error).toMatchObject({ code: "connect_failed" });
    expect(error.message).toContain("it took longer than 20 ms");
    const socket = await connected;
    socket.resume();
    if (!socket.closed) await once(socket, "close");
  });

  it("fails after connectTimeoutMs if the server's response never ends", async () => {
    await using server = await rawServer((socket) => {
      const promise = (): void => {
        if (!socket.destroyed) socket.write("HTTP/1.1 102 Processing\r\n\r\n", () => setImmediate(promise));
      };
      socket.once("data", promise);
    });
    const error = await errorOf(connectWebSocket(server.url, { connectTimeoutMs: 30 }));
    expect(error.code).toBe("connect_failed");
    expect(error.message).toContain("it took longer than 30 ms");
  });

  it.each([
    ["another scheme", "http://127.0.0.1/"],
    ["a relative socket", "unix://relative"],
    ["no path", "unix://"],
    ["no characters", ""],
    ["no host", "ws://"],
    ["a fragment", "ws://127.0.0.1/#part"],
  ])("fails with connect_failed if the address has %s", async (_name, url) => {
    expect((await errorOf(connectWebSocket(url))).code).toBe("connect_failed");
  });

  it("fails with connect_failed for a URL with an undecodable path", async () => {
    expect((await errorOf(connectWebSocket(new URL("unix:///%zz")))).code).toBe("connect_failed");
  });

  it("fails with connect_failed for an invalid token, without quoting it", async () => {
    const error = await errorOf(connectWebSocket("ws://127.0.0.1:1/", { token: "two\nlines" }));
    expect(error.code).toBe("connect_failed");
    expect(error.message).not.toContain("two");
  });
});

describe("an abort", () => {
  const reason = new Error("enough");

  it("before the call opens no connection", async () => {
    let connections = 0;
    await using server = await rawServer(() => (connections += 1));
    const error = await errorOf(connectWebSocket(server.url, { signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({ code: "aborted", cause: reason });
    expect(connections).toBe(0);
  });

  it("while connecting rejects immediately and closes the socket", async () => {
    const controller = new AbortController();
    const { promise: connected, resolve } = Promise.withResolvers<Socket>();
    await using server = await rawServer(resolve);
    const connecting = errorOf(connectWebSocket(server.url, { signal: controller.signal }));
    const socket = await connected;
    controller.abort(reason);
    expect(await connecting).toMatchObject({ code: "aborted", cause: reason });
    socket.resume();
    if (!socket.closed) await once(socket, "close");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("while a refusal is read rejects immediately", async () => {
    const controller = new AbortController();
    await using server = await answering("HTTP/1.1 401 Unauthorized\r\nContent-Length: 50\r\n\r\nNot", () =>
      controller.abort(reason),
    );
    const error = await errorOf(connectWebSocket(server.url, { signal: controller.signal }));
    expect(error.code).toBe("aborted");
  });

  it("after the server has accepted leaves no connection behind", async () => {
    const controller = new AbortController();
    await using server = await webSocketServer();
    const connecting = errorOf(connectWebSocket(server.url, { signal: controller.signal }));
    const far = await server.nextSocket();
    const farClosed = once(far, "close");
    controller.abort(reason);
    expect((await connecting).code).toBe("aborted");
    await farClosed;
  });

  it("after the connection is open has no effect", async () => {
    const controller = new AbortController();
    await using server = await webSocketServer({
      onConnection: (socket) => socket.on("message", () => socket.send('{"id":0,"result":1}')),
    });
    await using peer = new Peer(await connectWebSocket(server.url, { signal: controller.signal }));
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    controller.abort(reason);
    expect(await peer.request("m")).toBe(1);
  });
});
