import { once } from "node:events";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../../test/servers.ts";
import { ExecClient } from "../client/exec-client.ts";

const web = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (bytes: Buffer) => chunks.push(bytes));
  request.on("end", () => {
    if (request.url === "/redirect") return response.writeHead(302, { location: "/echo" }).end();
    if (request.url === "/slow") return undefined;
    if (request.url === "/stream") {
      response.writeHead(200, { "x-a": "1" });
      for (let piece = 0; piece < 20; piece += 1) response.write(Buffer.alloc(100_000, piece));
      return response.end();
    }
    response.setHeader("content-type", "application/json");
    const { "x-two": two, host: _host, ...headers } = request.headers;
    return response.end(
      JSON.stringify({
        method: request.method,
        url: request.url,
        two,
        auth: headers.authorization,
        body: Buffer.concat(chunks).toString(),
      }),
    );
  });
});
let origin: string;

beforeAll(async () => {
  web.listen(0, "127.0.0.1");
  await once(web, "listening");
  const address = web.address();
  origin = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
});

afterAll(() => {
  web.closeAllConnections();
  web.close();
});

describe.each(["ours", "codex"] as const)("HTTP through %s", (kind) => {
  let server: TestServer;
  let client: ExecClient;

  beforeAll(async () => {
    server = await startServer(kind);
    client = await ExecClient.connect(server.url);
  });

  afterAll(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });

  const json = (bodyBase64: string) =>
    JSON.parse(Buffer.from(bodyBase64, "base64").toString()) as Record<string, unknown>;

  test("sends method, headers, repeats and body, without the fragment", async () => {
    const answer = await client.http({
      method: "POST",
      url: `${origin}/echo?q=1#secret`,
      headers: [
        { name: "X-Two", value: "a" },
        { name: "x-two", value: "b" },
      ],
      bodyBase64: Buffer.from("hello").toString("base64"),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.find(({ name }) => name === "content-type")?.value).toBe("application/json");
    expect(json(answer.bodyBase64)).toMatchObject({
      method: "POST",
      url: "/echo?q=1",
      two: "a, b",
      body: "hello",
    });
  });

  test("follows redirects, or stops at them", async () => {
    const followed = await client.http({ method: "GET", url: `${origin}/redirect` });
    expect(json(followed.bodyBase64)["url"]).toBe("/echo");
    const stopped = await client.http({ method: "GET", url: `${origin}/redirect`, redirectPolicy: "stop" });
    expect([stopped.status, stopped.headers.find(({ name }) => name === "location")?.value]).toEqual([
      302,
      "/echo",
    ]);
  });

  test("gives up in time", async () => {
    const slow = client.http({ method: "GET", url: `${origin}/slow`, timeoutMs: 100 });
    await expect(slow).rejects.toMatchObject({ rpcCode: -32603 });
  });

  test("streams a body in order", async () => {
    const { status, headers, body } = await client.httpStream({ method: "GET", url: `${origin}/stream` });
    expect([status, headers.find(({ name }) => name === "x-a")?.value]).toEqual([200, "1"]);
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece);
    const expected = Buffer.concat(Array.from({ length: 20 }, (_, piece) => Buffer.alloc(100_000, piece)));
    expect(Buffer.concat(pieces).equals(expected)).toBe(true);
  });

  test("sends no key of the machine, and no variable that is not set", async () => {
    for (const valueEnvVar of ["OPENAI_API_KEY", "aws_session_token", "CODEXKIT_NOT_SET"]) {
      const headers = [{ name: "authorization", value: "Bearer ", valueEnvVar }];
      const sent = client.http({ method: "GET", url: `${origin}/echo`, headers });
      await expect(sent).rejects.toMatchObject({ rpcCode: -32602 });
    }
  });
});
