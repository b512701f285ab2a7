// The HTTP proxy on a plain socket: what it makes of requests, good and bad.
import { once } from "node:events";
import { Agent, type IncomingMessage, request, type RequestOptions } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startProxyListener, startWeb } from "../../test/network.ts";
import { httpListener } from "./http-listener.ts";

let stack: AsyncDisposableStack;
let listener: number;
let connections: () => Promise<number>;
let web: number;

/** Echoes what came: the request line, the headers and the body. */
function echo(incoming: IncomingMessage): Promise<string> {
  return Array.fromAsync(incoming as AsyncIterable<Buffer>).then((body) =>
    JSON.stringify({
      line: `${incoming.method} ${incoming.url}`,
      headers: incoming.rawHeaders,
      body: String(Buffer.concat(body)),
    }),
  );
}

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const server = stack.use(
    await startWeb((incoming, response) => {
      if (incoming.url === "/large") return void response.end(Buffer.alloc(5_000_000, "x"));
      if (incoming.url === "/cut") return void response.write("half", () => response.destroy());
      void echo(incoming).then((text) => response.setHeader("X-Kept", ["a", "b"]).end(text));
    }),
  );
  web = server.port;
  ({ port: listener, connections } = stack.use(await startProxyListener(httpListener)));
});

afterEach(() => stack.disposeAsync());

/** Sends one request through the proxy. */
async function ask(options: RequestOptions, body: readonly (string | Buffer)[] = []) {
  const outgoing = request({ host: "127.0.0.1", port: listener, agent: false, ...options });
  for (const part of body) outgoing.write(part);
  outgoing.end();
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  const pieces = await Array.fromAsync(answer as AsyncIterable<Buffer>);
  return { status: answer.statusCode, raw: answer.rawHeaders, body: Buffer.concat(pieces) };
}

const at = (path: string, host = "127.0.0.1") => `http://${host}:${web}${path}`;
const hostHeader = (host = "127.0.0.1") => ({ Host: `${host}:${web}` });

/** Sends raw bytes to the proxy and returns the whole reply. */
async function say(text: string, { thenEnd = false } = {}): Promise<string> {
  const socket = connect({ port: listener, host: "127.0.0.1", allowHalfOpen: true });
  stack.defer(() => void socket.destroy());
  socket.write(text, "latin1");
  if (thenEnd) socket.end();
  const answer = String(Buffer.concat(await Array.fromAsync(socket as AsyncIterable<Buffer>)));
  socket.end();
  return answer;
}

describe("a request goes on", () => {
  test("with its method, path, query, headers and body, and without what is between client and proxy", async () => {
    const { status, raw, body } = await ask(
      {
        method: "POST",
        path: at("/a%20b?c=d"),
        headers: {
          ...hostHeader(),
          "Proxy-Authorization": "Basic eA==",
          Connection: "X-Hop",
          "X-Hop": "1",
          "X-Many": ["1", "2"],
        },
      },
      ["some ", "text"],
    );
    expect(status).toBe(200);
    const {
      line,
      headers,
      body: received,
    } = JSON.parse(String(body)) as Record<string, string> & {
      headers: string[];
    };
    expect([line, received]).toEqual(["POST /a%20b?c=d", "some text"]);
    expect(headers.join(" ")).toContain(`X-Many 1 X-Many 2`);
    expect(headers.join(" ")).not.toMatch(/proxy-|x-hop/i);
    expect(raw.join(" ")).toContain("X-Kept a X-Kept b");
  });

  test("to the host it names, which may be a name", async () => {
    const { body } = await ask({ path: at("", "NAME.test"), headers: hostHeader("name.test") });
    expect(String(body)).toContain(`"line":"GET /"`);
  });

  test("several on one connection, and a large answer whole", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 15; round += 1) {
      const { body } = await ask({ path: at("/large"), headers: hostHeader(), agent });
      expect(body.length).toBe(5_000_000);
    }
    agent.destroy();
  });

  test("with the body that its own framing says, and not a byte as a request of its own", async () => {
    const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    const length = smuggled.length.toString(16);
    const out = await say(
      `GET ${at("/first")} HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${length}\r\n${smuggled}\r\n0\r\n\r\n`,
    );
    const answer = JSON.parse(out.slice(out.indexOf("{"), out.lastIndexOf("}") + 1)) as {
      line: string;
      body: string;
    };
    expect(answer).toMatchObject({ line: "GET /first", body: smuggled });
    expect(out.match(/HTTP\/1\.1/g)).toHaveLength(2);
  });

  test("with one host, the one that was judged", async () => {
    const out = await say(
      `GET ${at("/")} HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\nHost: other.test\r\nConnection: close\r\n\r\n`,
    );
    expect(out).not.toContain("other.test");
  });
});

describe("is refused", () => {
  test.each([
    ["a path without a host", () => "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["another protocol", () => `GET ftp://127.0.0.1:${web}/ HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\n\r\n`, 400],
    [
      "https without a tunnel",
      () => `GET https://127.0.0.1:${web}/ HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\n\r\n`,
      400,
    ],
    ["a host that is another", () => `GET ${at("/")} HTTP/1.1\r\nHost: other.test\r\n\r\n`, 400],
    [
      "a user in the host",
      () => `GET http://a@127.0.0.1:${web}/ HTTP/1.1\r\nHost: 127.0.0.1:${web}\r\n\r\n`,
      400,
    ],
    ["a tunnel to no port", () => "CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["a tunnel that is not allowed", () => "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n", 403],
    ["a tunnel to a closed port", () => "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n", 502],
    [
      "a request to a closed port",
      () => "GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n",
      502,
    ],
    ["no HTTP at all", () => "\u0005\u0001\u0000", 400],
  ])("%s", async (_what, text, status) => {
    expect(await say(text())).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    await expect.poll(() => connections()).toBe(0);
  });
});

describe("a connection", () => {
  test("that breaks on the other side breaks here", async () => {
    await expect(ask({ path: at("/cut"), headers: hostHeader() })).rejects.toThrow("aborted");
  });

  test("of a tunnel carries both ways, and each side ends for itself", async () => {
    // Answers only when its client has said all.
    const whole = createServer({ allowHalfOpen: true }, (socket) => {
      void Array.fromAsync(socket as AsyncIterable<Buffer>).then((all) =>
        socket.end(`heard ${String(Buffer.concat(all))}`),
      );
    });
    whole.listen(0, "127.0.0.1");
    await once(whole, "listening");
    stack.defer(() => void whole.close());
    const { port } = whole.address() as AddressInfo;
    const out = await say(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\nearly and all`, {
      thenEnd: true,
    });
    expect(out).toBe("HTTP/1.1 200 Connection established\r\n\r\nheard early and all");
  });

  test("of a client that leaves ends the one behind it", async () => {
    const accepted = Promise.withResolvers<Socket>();
    const target = createServer((socket) => accepted.resolve(socket.resume()));
    target.listen(0, "127.0.0.1");
    await once(target, "listening");
    stack.defer(() => void target.close());
    const socket = connect(listener, "127.0.0.1");
    socket.write(`CONNECT 127.0.0.1:${(target.address() as AddressInfo).port} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const behind = await accepted.promise;
    behind.on("error", () => {});
    socket.resetAndDestroy();
    await once(behind, "close");
  });
});
