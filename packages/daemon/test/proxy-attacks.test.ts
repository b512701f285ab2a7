// Attacks on forwarded requests by another node, by the network between the nodes, and by a client.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type Scope, SCOPES } from "../src/api/route.ts";
import type { Identity } from "../src/api/token.ts";
import { FLEET_LIMITS } from "../src/fleet/limits.ts";
import { ForwardTokens } from "../src/fleet/forward-token.ts";
import { FORWARD_HEADER } from "../src/http/proxy/forwarded.ts";
import { useDatabases } from "./database-fixture.ts";
import { type FleetNode, startFleet, type TestFleet } from "./fleet-fixture.ts";

const databases = useDatabases("postgres");

interface HostileNode extends AsyncDisposable {
  readonly url: string;
  readonly requests: IncomingMessage[];
}

/** An HTTP server that takes the place of a node. */
async function listen(server: Server): Promise<HostileNode> {
  const requests: IncomingMessage[] = [];
  server.on("request", (request) => requests.push(request));
  server.on("upgrade", (request) => requests.push(request));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function hostile(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<HostileNode> {
  return listen(createServer(respond));
}

/** A TCP server that takes the place of a node. */
async function rawServer(
  onConnection: (socket: Socket) => void,
): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function authorized({ api }: FleetNode, headers: Readonly<Record<string, string>> = {}) {
  return { headers: { authorization: `Bearer ${api.token}`, ...headers } };
}

async function filesThrough({ a }: TestFleet, sessionId: string, init: object = {}): Promise<Response> {
  return fetch(`${a.url}/sessions/${sessionId}/files`, { ...authorized(a), ...init });
}

const fast = {
  fleetLimits: { ...FLEET_LIMITS, proxyTimeoutMs: 300, drainListenMs: 0 },
  limits: { heartbeatMs: 100 },
};

test("a forward token is valid once, at one node, and for one request", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  await using spy = await hostile((_, response) => response.writeHead(500).end());
  await fleet.setUrl(b, spy.url);
  await filesThrough(fleet, session.id);
  const [request] = spy.requests;
  const token = String(request?.headers[FORWARD_HEADER]);
  const path = request?.url ?? "";
  const send = async (url: string, init: RequestInit = {}): Promise<number> =>
    (await fetch(url, { ...init, headers: { [FORWARD_HEADER]: token } })).status;
  expect(await send(a.url + path)).toBe(401);
  expect(await send(`${b.url}/sessions`)).toBe(401);
  expect(await send(`${b.url}${path}?path=..`)).toBe(401);
  expect(await send(b.url + path, { method: "PUT" })).toBe(405);
  expect(await send(b.url + path)).toBe(200);
  expect(await send(b.url + path)).toBe(401);
});

test("a forwarded request has no credentials and no headers beyond an allowlist", async () => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  await using spy = await hostile((_, response) => response.writeHead(500).end());
  await fleet.setUrl(fleet.b, spy.url);
  await filesThrough(
    fleet,
    session.id,
    authorized(fleet.a, {
      cookie: "codexkit_token=secret",
      "x-forwarded-for": "10.0.0.1",
      "x-forwarded-host": "evil.example",
      forwarded: "for=10.0.0.1",
      "proxy-authorization": "Basic secret",
      referer: "http://localhost/secret",
      "x-custom": "value",
      [FORWARD_HEADER.toUpperCase()]: "",
    }),
  ).catch(() => {});
  await filesThrough(
    fleet,
    session.id,
    authorized(fleet.a, { cookie: "codexkit_token=secret", "x-custom": "1" }),
  );
  const names = spy.requests.flatMap(({ headers }) => Object.keys(headers));
  expect(new Set(names)).toEqual(
    new Set([
      "host",
      "connection",
      FORWARD_HEADER,
      "accept",
      "accept-language",
      "sec-fetch-mode",
      "user-agent",
      "accept-encoding",
    ]),
  );
});

test("the header of forwarded requests does not bypass authentication", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  const identity = (scopes: readonly Scope[]): Identity => ({
    id: "nobody",
    name: "nobody",
    scopes: [...scopes],
    tenant: "default",
  });
  const tokens = new ForwardTokens(a.api.database.store, { proxyTokenMs: 60_000 });
  const path = `/sessions/${session.id}/terminals`;
  const forwarded = async (method: string, scopes: readonly Scope[], claimed = path): Promise<Response> =>
    fetch(b.url + path, {
      method,
      headers: {
        "content-type": "application/json",
        // An additional token of the client has no effect.
        authorization: `Bearer ${b.api.token}`,
        [FORWARD_HEADER]: await tokens.sign(
          { method, path: claimed },
          { from: a.nodeId, to: b.nodeId, identity: identity(scopes) },
        ),
      },
      ...(method === "POST" && { body: JSON.stringify({ command: ["true"] }) }),
    });
  expect((await forwarded("GET", ["read"])).status).toBe(200);
  expect((await forwarded("GET", [])).status).toBe(403);
  expect((await forwarded("POST", ["read"])).status).toBe(403);
  expect((await forwarded("GET", [...SCOPES], "/audit")).status).toBe(401);
  for (const token of ["", "x", "a.b.c", b.api.token]) {
    const response = await fetch(b.url + path, authorized(b, { [FORWARD_HEADER]: token }));
    expect(response.status).toBe(401);
  }
});

test("a request is forwarded once, even if the URLs of nodes form a cycle", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  // The row of `b` has the URL of `a`, which refuses the token for `b`.
  await fleet.setUrl(b, a.url);
  const wrong = await filesThrough(fleet, session.id);
  expect([wrong.status, await wrong.json()]).toEqual([
    503,
    expect.objectContaining({ type: "node_unavailable" }),
  ]);
  // A forwarded request for a session that has moved in the meantime.
  await fleet.setUrl(b, b.url);
  const path = `/sessions/${session.id}/files`;
  const tokens = new ForwardTokens(a.api.database.store, { proxyTokenMs: 60_000 });
  const identity: Identity = { id: "x", name: "x", scopes: ["read"], tenant: "default" };
  const token = await tokens.sign({ method: "GET", path }, { from: b.nodeId, to: a.nodeId, identity });
  const second = await fetch(a.url + path, { headers: { [FORWARD_HEADER]: token } });
  expect([second.status, await second.json()]).toEqual([
    503,
    expect.objectContaining({ type: "node_unavailable", detail: expect.stringContaining("just moved") }),
  ]);
});

test.each([
  "file:///etc/passwd",
  "http://user:secret@127.0.0.1:1",
  "http://127.0.0.1:1/latest/meta-data",
  "http://127.0.0.1:1?x=",
  "gopher://127.0.0.1:1",
  "http://127.0.0.1:1\\@127.0.0.1:2",
  "",
  "http://[",
])("the URL %j in the row of a node is not requested", async (url) => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  await fleet.setUrl(fleet.b, url);
  const response = await filesThrough(fleet, session.id);
  expect([response.status, await response.json()]).toEqual([
    503,
    expect.objectContaining({ type: "node_unavailable", detail: expect.stringContaining("is invalid") }),
  ]);
});

test("redirects are not followed, and cookies and CORS headers of a target do not reach the client", async () => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  await using elsewhere = await hostile((_, response) => response.end("elsewhere"));
  await using target = await hostile((_, response) =>
    response.writeHead(302, { location: elsewhere.url, "set-cookie": "a=b" }).end(),
  );
  await fleet.setUrl(fleet.b, target.url);
  const redirected = await filesThrough(fleet, session.id);
  expect([redirected.status, elsewhere.requests.length]).toEqual([503, 0]);
  await using chatty = await hostile((_, response) =>
    response
      .writeHead(200, {
        "content-type": "application/json",
        "set-cookie": "codexkit_token=evil",
        "access-control-allow-origin": "*",
        "x-powered-by": "evil",
        connection: "x-powered-by",
      })
      .end("{}"),
  );
  await fleet.setUrl(fleet.b, chatty.url);
  const answered = await filesThrough(fleet, session.id);
  expect(answered.status).toBe(200);
  for (const name of ["set-cookie", "access-control-allow-origin", "x-powered-by"]) {
    expect(answered.headers.get(name)).toBeNull();
  }
});

test("a target that responds with 401 does not log the client out", async () => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  await using target = await hostile((_, response) => {
    const problem = JSON.stringify({ type: "unauthorized", title: "", status: 401, detail: "" });
    response.writeHead(401, { "content-type": "application/problem+json", "content-length": problem.length });
    response.end(problem);
  });
  await fleet.setUrl(fleet.b, target.url);
  expect((await filesThrough(fleet, session.id)).status).toBe(503);
});

const brokenTargets: readonly (readonly [string, (socket: Socket) => void])[] = [
  ["accepts and never answers", () => {}],
  ["sends endless headers", (socket: Socket) => sendForever(socket, "HTTP/1.1 200 OK\r\n", "x-a: b\r\n")],
  [
    "sends huge headers",
    (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(1e6)}\r\n\r\n`),
  ],
  ["speaks something else", (socket: Socket) => void socket.end("SSH-2.0-OpenSSH\r\n")],
  [
    "has two lengths",
    (socket: Socket) =>
      void socket.end(
        "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      ),
  ],
  ["hangs up", (socket: Socket) => void socket.destroy()],
];

test.each(brokenTargets)("a target that %s is node_unavailable", async (_, onConnection) => {
  await using fleet = await startFleet(databases, fast);
  const session = await fleet.createSession();
  await using target = await rawServer((socket) => void socket.once("data", () => onConnection(socket)));
  await fleet.setUrl(fleet.b, target.url);
  const response = await filesThrough(fleet, session.id);
  expect([response.status, await response.json()]).toEqual([
    503,
    expect.objectContaining({ type: "node_unavailable" }),
  ]);
  const upgrade = new WebSocket(
    `${fleet.a.url.replace("http", "ws")}/sessions/${session.id}/terminals/t/attach`,
    {
      ...authorized(fleet.a),
    },
  );
  upgrade.on("error", () => {});
  const [, refused] = (await once(upgrade, "unexpected-response")) as [unknown, IncomingMessage];
  expect(refused.statusCode).toBe(503);
});

function sendForever(socket: Socket, head: string, line: string): void {
  socket.write(head);
  const more = (): void => {
    while (!socket.destroyed && socket.write(line.repeat(100)));
    if (!socket.destroyed) socket.once("drain", more);
  };
  more();
}

test("a target that crashes or stalls in the middle of a file breaks off the response", async () => {
  await using fleet = await startFleet(databases, fast);
  const session = await fleet.createSession();
  for (const [head, isStalled] of [
    ["content-length: 100\r\n\r\nhalf", false],
    ["transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n", false],
    ["content-length: 100\r\n\r\nhalf", true],
  ] as const) {
    await using target = await rawServer((socket) => {
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\n${head}`);
        if (!isStalled) setImmediate(() => socket.destroySoon());
      });
    });
    await fleet.setUrl(fleet.b, target.url);
    const response = await filesThrough(fleet, session.id);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow("terminated");
  }
});

test("a client that disconnects ends the request at the target, and no longer counts towards the limit", async () => {
  await using fleet = await startFleet(databases, { limits: { forwardedRequests: 1 } });
  const session = await fleet.createSession();
  const ended = Promise.withResolvers<void>();
  await using target = await hostile((_, response) => {
    response.on("close", () => ended.resolve());
    response.writeHead(200, { "content-type": "application/octet-stream" }).write("begin");
  });
  await fleet.setUrl(fleet.b, target.url);
  const stop = new AbortController();
  const response = await filesThrough(fleet, session.id, { signal: stop.signal });
  expect(response.status).toBe(200);
  const second = await filesThrough(fleet, session.id);
  expect([second.status, second.headers.get("retry-after")]).toEqual([429, "5"]);
  stop.abort();
  await ended.promise;
  await fleet.setUrl(fleet.b, fleet.b.url);
  await expect.poll(async () => (await filesThrough(fleet, session.id)).status).toBe(200);
});

test("requests with two lengths or hidden ones behind them are refused before they are forwarded", async () => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  await using spy = await hostile((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  });
  await fleet.setUrl(fleet.b, spy.url);
  const path = `/sessions/${session.id}/files/content?path=x`;
  const hidden = "GET /audit HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  const send = async (headers: string, body: string): Promise<string> => {
    const socket = connect(Number(new URL(fleet.a.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `PUT ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${fleet.a.api.token}\r\n${headers}\r\n\r\n${body}`,
    );
    return (await socket.setEncoding("latin1").toArray()).join("");
  };
  for (const headers of [
    "content-length: 5\r\ntransfer-encoding: chunked",
    "transfer-encoding: chunked\r\ncontent-length: 5",
    "transfer-encoding: chunked, identity",
    "transfer-encoding:\tx, chunked\r\ncontent-length: 5",
    "content-length: 5\r\ncontent-length: 6",
    "transfer-encoding : chunked",
  ]) {
    expect(await send(headers, `0\r\n\r\n${hidden}`)).toMatch(/^HTTP\/1\.1 4\d\d /);
  }
  // Data after a valid request is parsed as the client's next request, and not as one of the node.
  const responses = await send("content-length: 2", `ok${hidden}`);
  expect(responses.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual(["HTTP/1.1 200", "HTTP/1.1 401"]);
  expect(spy.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([`PUT ${path}`]);
});

test("huge headers of a client are refused at the first node", async () => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  const response = await filesThrough(
    fleet,
    session.id,
    authorized(fleet.a, { "if-match": "x".repeat(100_000) }),
  ).catch(() => undefined);
  expect(response?.status ?? 431).toBe(431);
});

test("a viewer that never reads stops the target's output without filling the memory of the forwarding node", async () => {
  await using fleet = await startFleet(databases, { terminalLimits: { unsentBytes: 64 * 1024 } });
  const session = await fleet.createSession();
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  await using target = await listen(server);
  await fleet.setUrl(fleet.b, target.url);
  const stalled = Promise.withResolvers<number>();
  sockets.on("connection", (socket) => {
    let sent = 0;
    const chunk = Buffer.alloc(32 * 1024);
    const more = (): void => {
      // The kernel and both ends have buffered at most this much.
      if (socket.bufferedAmount > 1024 * 1024 || sent > 512 * 1024 * 1024) return stalled.resolve(sent);
      sent += chunk.length;
      socket.send(chunk);
      setImmediate(more);
    };
    more();
  });
  const viewer = connect(Number(new URL(fleet.a.url).port), "127.0.0.1");
  viewer.on("error", () => {});
  viewer.write(
    `GET /sessions/${session.id}/terminals/t/attach HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${fleet.a.api.token}\r\n` +
      "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  expect(await stalled.promise).toBeLessThan(64 * 1024 * 1024);
  viewer.destroy();
  const [socket] = sockets.clients;
  if (socket) await once(socket, "close");
});

test("close codes are forwarded in both directions, and a target that disconnects ends the viewer", async () => {
  await using fleet = await startFleet(databases);
  const session = await fleet.createSession();
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  await using target = await listen(server);
  await fleet.setUrl(fleet.b, target.url);
  const url = `${fleet.a.url.replace("http", "ws")}/sessions/${session.id}/terminals/t/attach`;
  const attach = async (): Promise<{ viewer: WebSocket; upstream: WebSocket }> => {
    const accepted = once(sockets, "connection") as Promise<[WebSocket]>;
    const viewer = new WebSocket(url, authorized(fleet.a));
    const [upstream] = await accepted;
    await once(viewer, "open");
    return { viewer, upstream };
  };
  const first = await attach();
  first.upstream.close(4001, "enough");
  const [code, reason] = (await once(first.viewer, "close")) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([4001, "enough"]);
  const second = await attach();
  second.viewer.close(4002, "bye");
  expect((await once(second.upstream, "close"))[0]).toBe(4002);
  const third = await attach();
  third.upstream.terminate();
  await once(third.viewer, "close");
});

test("a revoked token ends the viewers and streams that it has on another node", async () => {
  await using fleet = await startFleet(databases);
  const { a, b } = fleet;
  const session = await fleet.createSession();
  const { token, info } = await a.api.daemon.tokens.create({ name: "x", scopes: ["read"], by: "test" });
  const headers = { authorization: `Bearer ${token}` };
  const terminal = await b.client.request("POST /sessions/{sessionId}/terminals", {
    params: { sessionId: session.id },
    body: { command: ["cat"] },
  });
  const viewer = new WebSocket(
    `${a.url.replace("http", "ws")}/sessions/${session.id}/terminals/${terminal.id}/attach`,
    { headers },
  );
  await once(viewer, "open");
  const changes = await fetch(`${a.url}/sessions/${session.id}/files/changes`, { headers });
  const closed = once(viewer, "close");
  await b.api.daemon.tokens.revoke(info.id, "test");
  expect((await closed)[0]).toBe(1008);
  await changes.text();
  await writeFile(join(b.api.root, "later.txt"), "");
});
