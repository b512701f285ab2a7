import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { HttpServer } from "./http-server.ts";

const hasIPv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === "::1"),
);

/** Starts a server that answers nothing by itself. */
async function startServer(host = "127.0.0.1") {
  const responses: ServerResponse[] = [];
  const http = createServer((_request, response) => void responses.push(response));
  const server = await HttpServer.listen(http, { host, port: 0 });
  return { http, server, responses };
}

describe("HttpServer", () => {
  it.each([
    ["127.0.0.1", /^http:\/\/127\.0\.0\.1:\d+$/],
    ["0.0.0.0", /^http:\/\/0\.0\.0\.0:\d+$/],
  ])("has a URL when it listens on %s", async (host, url) => {
    const { server } = await startServer(host);
    expect(server.url).toMatch(url);
    await server.close(0);
  });

  it.skipIf(!hasIPv6)("puts an IPv6 address in brackets", async () => {
    const { server } = await startServer("::1");
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    await server.close(0);
  });

  it("rejects if the port is in use", async () => {
    const { server } = await startServer();
    const port = Number(new URL(server.url).port);
    await expect(HttpServer.listen(createServer(), { host: "127.0.0.1", port })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    await server.close(0);
  });

  it("finishes running requests before it closes", async () => {
    const { http, server, responses } = await startServer();
    const answer = fetch(server.url);
    await once(http, "request");
    const closed = server.close(60_000);
    await expect(fetch(server.url)).rejects.toThrow("fetch failed");
    responses[0]?.end("done");
    expect(await (await answer).text()).toBe("done");
    await closed;
  });

  it("closes the remaining connections after the grace period", async () => {
    const { http, server } = await startServer();
    const answer = fetch(server.url);
    await once(http, "request");
    await server.close(0);
    await expect(answer).rejects.toThrow("fetch failed");
  });

  it("continues running requests after it has stopped listening", async () => {
    const { http, server, responses } = await startServer();
    const answer = fetch(server.url);
    await once(http, "request");
    server.stopListening();
    const refused = connect(Number(new URL(server.url).port), "127.0.0.1");
    const [error] = (await once(refused, "error")) as unknown[];
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
    responses[0]?.end("done");
    expect(await (await answer).text()).toBe("done");
    await server.close(60_000);
  });
});
