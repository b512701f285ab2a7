import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { decodeFrame } from "../src/frames/decode-frame.ts";

const TOKEN = "test-token";

interface Environment {
  readonly registrationId: string;
  readonly executorKey: unknown;
  executor: WebSocket | undefined;
}

/** The smallest registry and rendezvous, all in memory: each test can make it fail. */
export async function startFakeRegistry() {
  const environments = new Map<string, Environment>();
  const authorizations = new Map<string, string>();
  const harnesses = new Map<string, WebSocket>();
  const faults = { status: 0, isValid: true };
  const calls: string[] = [];
  const respond = (id: string, call: string, body: Record<string, unknown>): [number, object] => {
    const environment = environments.get(id);
    const known = {
      environment_id: id,
      security_profile: "noise_hybrid_ik_v1",
      executor_registration_id: environment?.registrationId,
    };
    if (call === "register") {
      const registrationId = randomUUID();
      environments.set(id, { registrationId, executorKey: body["executor_public_key"], executor: undefined });
      return [
        200,
        { ...known, executor_registration_id: registrationId, url: `${url}/executor/${registrationId}` },
      ];
    }
    if (!environment?.executor) return [409, { error: { code: "environment_offline", message: "offline" } }];
    if (call === "validate") {
      const isKnown =
        authorizations.get(String(body["harness_key_authorization"])) ===
        JSON.stringify(body["harness_public_key"]);
      return [200, { valid: isKnown && faults.isValid }];
    }
    const authorization = randomUUID();
    authorizations.set(authorization, JSON.stringify(body["harness_public_key"]));
    const members = {
      executor_public_key: environment.executorKey,
      harness_key_authorization: authorization,
    };
    return [200, { ...known, ...members, url: `${url}/harness/${encodeURIComponent(id)}` }];
  };
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (bytes: Buffer) => {
      text += String(bytes);
    });
    request.on("end", () => {
      const [, id = "", call = ""] = /^\/cloud\/environment\/([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
      calls.push(call);
      const isAuthorized = request.headers.authorization === `Bearer ${TOKEN}`;
      const [status, body] =
        faults.status > 0
          ? [faults.status, {}]
          : isAuthorized
            ? respond(decodeURIComponent(id), call, JSON.parse(text) as never)
            : [401, {}];
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  const upgrader = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    const [, role, id = ""] = (request.url ?? "").split("/");
    const environment =
      role === "executor"
        ? [...environments.values()].find(({ registrationId }) => registrationId === id)
        : environments.get(decodeURIComponent(id));
    if (!environment) return void socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
    upgrader.handleUpgrade(request, socket, head, (webSocket) => {
      if (role === "executor") environment.executor = webSocket;
      webSocket.on("message", (data: Buffer) => {
        const { streamId } = decodeFrame(data);
        if (role === "executor") return harnesses.get(streamId)?.send(data);
        harnesses.set(streamId, webSocket);
        environment.executor?.send(data);
      });
      webSocket.on("close", () => {
        if (environment.executor === webSocket) environment.executor = undefined;
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const url = `ws://127.0.0.1:${port}`;
  const disconnectAll = (): void => {
    for (const client of upgrader.clients) client.terminate();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    token: TOKEN,
    faults,
    calls,
    environments,
    disconnectAll,
    [Symbol.asyncDispose]: async () => {
      disconnectAll();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
