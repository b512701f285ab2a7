// The direct transport, with a peer that checks the signature and then acts as the client of the socket.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { ExecClient } from "@codexkit/exec-server/client";
import { WebSocketTransport } from "@codexkit/rpc";
import { AwsV4Signer } from "aws4fetch";
import { type WebSocket, WebSocketServer } from "ws";
import { expect, test } from "vitest";
import { awsCredential } from "../credentials/aws-credential.ts";
import type { RelayCredential } from "../credentials/credential.ts";
import { runExecutor } from "./run-executor.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-west-1" };

async function directPeer() {
  const requests: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const sockets: WebSocket[] = [];
  const waiting: ((socket: WebSocket) => void)[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (bytes: Buffer) => {
      body += String(bytes);
    });
    request.on("end", () => {
      requests.push({ method: "POST", url: request.url ?? "", headers: request.headers, body });
      const answer = {
        environment_id: "env",
        url: `ws://${host}/socket`,
        transport: "direct_jsonrpc_v1",
        registration_id: "d",
      };
      response.writeHead(200).end(JSON.stringify(answer));
    });
  });
  const upgrader = new WebSocketServer({ server });
  upgrader.on("connection", (socket, request) => {
    requests.push({ method: "GET", url: request.url ?? "", headers: request.headers, body: "" });
    const next = waiting.shift();
    if (next) next(socket);
    else sockets.push(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    url: `http://${host}`,
    requests,
    /** The next connection of the executor. */
    accept: async () => {
      const socket =
        sockets.shift() ?? (await new Promise<WebSocket>((resolve) => void waiting.push(resolve)));
      return new WebSocketTransport(socket);
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of upgrader.clients) client.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const start = (url: string, credential: string | RelayCredential) =>
  runExecutor({
    registryUrl: url,
    environmentId: "env",
    credential,
    transport: "direct",
    server: { bwrap: null },
  });

test("the peer of the socket is the client, and can resume on the next socket", async () => {
  await using peer = await directPeer();
  await using executor = await start(peer.url, "bearer");
  const transports: WebSocketTransport[] = [];
  const dial = async () => {
    const transport = await peer.accept();
    transports.push(transport);
    return transport;
  };
  await using client = await ExecClient.connectWith(dial);
  const command = await client.start({ argv: ["/bin/cat"], cwd: "/", pipeStdin: true });
  await transports[0]?.close();
  await command.stdin.write("again\n");
  for await (const { bytes } of command) {
    expect(String(bytes)).toBe("again\n");
    break;
  }
  await command.kill();
  expect(executor.publicKey).toBeUndefined();
  expect(peer.requests.map(({ method, headers }) => [method, headers.authorization])).toEqual([
    ["POST", "Bearer bearer"],
    ["GET", "Bearer bearer"],
    ["GET", "Bearer bearer"],
  ]);
});

test("the registration and the upgrade are signed with SigV4", async () => {
  await using peer = await directPeer();
  await using _executor = await start(peer.url, awsCredential({}, KEYS));
  expect(peer.requests.length).toBe(2);
  for (const { method, url, headers, body } of peer.requests) {
    const authorization = headers.authorization ?? "";
    const names = /SignedHeaders=(?<names>[^,]+)/.exec(authorization)?.groups?.["names"]?.split(";") ?? [];
    expect(names).toEqual(expect.arrayContaining(["host", "x-amz-date"]) as string[]);
    const signed = names.filter((name) => name !== "host").map((name) => [name, String(headers[name])]);
    const expected = await new AwsV4Signer({
      method,
      url: `${peer.url}${url}`,
      headers: Object.fromEntries(signed) as Record<string, string>,
      ...(body === "" ? {} : { body }),
      accessKeyId: "AKID",
      secretAccessKey: "secret",
      service: "execute-api",
      region: "eu-west-1",
      datetime: String(headers["x-amz-date"]),
      allHeaders: true,
    }).sign();
    expect(authorization).toBe(expected.headers.get("authorization"));
  }
});

test("the direct transport does not forward", async () => {
  await expect(
    runExecutor({
      registryUrl: "http://127.0.0.1:1",
      environmentId: "env",
      credential: "t",
      transport: "direct",
      forwardTo: { url: "ws://127.0.0.1:1" },
    }),
  ).rejects.toMatchObject({ code: "bad_option" });
});
