// Every limit that a client offers is honoured: each key has a test that would fail if it were ignored.
import { once } from "node:events";
import { createServer } from "node:net";
import { WebSocketServer } from "ws";
import { describe, expect, test } from "vitest";
import { type LimitChecks, shell } from "../test/limit-checks.ts";
import { ExecClient } from "./client/exec-client.ts";
import type { ClientLimits } from "./limits.ts";
import { ExecServer } from "./server/exec-server.ts";

const checks: LimitChecks<keyof ClientLimits> = {
  inFlight: async () => {
    await using server = await ExecServer.start();
    await using limited = await ExecClient.connect(server.url ?? "", { limits: { inFlight: 1 } });
    const process = await limited.start({ argv: ["/bin/sleep", "60"], cwd: "/" });
    const giveUp = new AbortController();
    const read = limited.request(
      "process/read",
      { processId: process.id, waitMs: 60_000 },
      { signal: giveUp.signal },
    );
    const status = limited.request("environment/status", undefined, { timeoutMs: 200 });
    await expect(status).rejects.toMatchObject({ code: "timeout" });
    giveUp.abort();
    await expect(read).rejects.toMatchObject({ code: "aborted" });
  },
  connectTimeoutMs: async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    const connecting = ExecClient.connect(`ws://127.0.0.1:${port}`, { limits: { connectTimeoutMs: 50 } });
    await expect(connecting).rejects.toMatchObject({
      code: "connect_failed",
    });
    silent.close();
  },
  resumeTimeoutMs: async () => {
    const server = await ExecServer.start();
    const it = await ExecClient.connect(server.url ?? "", { limits: { resumeTimeoutMs: 50 } });
    await server.close();
    expect((await it.closed).code).toBe("disconnected");
  },
  resumeRetryDelayMs: async () => {
    await using patient = await resumingClient(600_000);
    await using eager = await resumingClient(1);
    while (eager.attempts() < 20) await once(eager.server, "connection");
    expect(patient.attempts()).toBeLessThan(2);
  },
  unreadOutputBytes: async () => {
    await using server = await ExecServer.start();
    await using it = await ExecClient.connect(server.url ?? "", { limits: { unreadOutputBytes: 1_000 } });
    const process = await it.start({ argv: shell("head -c 100000 /dev/zero"), cwd: "/" });
    await process.wait();
    await expect(process.collect()).rejects.toMatchObject({ code: "output_lost" });
  },
  reorderEvents: () => expectReorderFailure({ reorderEvents: 1 }),
  reorderBytes: () => expectReorderFailure({ reorderBytes: 4 }),
  stopTimeoutMs: async () => {
    // A server that ignores both the end of its input and SIGTERM is killed after the limit.
    const program = `
      process.on("SIGTERM", () => {});
      setInterval(() => {}, 1000);
      const answer = (id, result) => console.log(JSON.stringify({ id, result }));
      require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        if (method === "initialize") answer(id, { sessionId: "s", environmentInfo: {} });
      });`;
    const it = await ExecClient.launch(
      { command: process.execPath, args: ["-e", program] },
      { limits: { stopTimeoutMs: 50 } },
    );
    await it.close();
  },
};

/** A client whose server has ended its connection, and refuses and counts those that follow. */
async function resumingClient(resumeRetryDelayMs: number) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  let connections = 0;
  server.on("connection", (socket) => {
    connections += 1;
    if (connections > 1) return socket.terminate();
    socket.on("message", (data: Buffer) => {
      const { id, method } = JSON.parse(String(data)) as { id?: number; method: string };
      if (method === "initialize")
        socket.send(JSON.stringify({ id, result: { sessionId: "s", environmentInfo: {} } }));
    });
  });
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const client = await ExecClient.connect(`ws://127.0.0.1:${port}`, { limits: { resumeRetryDelayMs } });
  for (const socket of server.clients) socket.terminate();
  return {
    server,
    attempts: () => connections - 1,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      server.close();
    },
  };
}

/** Against a server that sends events out of order and withholds the first one. */
async function expectReorderFailure(limits: Partial<ClientLimits>): Promise<void> {
  const fake = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  fake.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const { id, method, params } = JSON.parse(String(data)) as {
        id?: number;
        method: string;
        params: { processId: string };
      };
      if (method === "initialize")
        socket.send(JSON.stringify({ id, result: { sessionId: "s", environmentInfo: {} } }));
      if (method !== "process/start") return;
      socket.send(JSON.stringify({ id, result: { processId: params.processId } }));
      for (const seq of [2, 3, 4])
        socket.send(
          JSON.stringify({
            method: "process/output",
            params: { processId: params.processId, seq, stream: "stdout", chunk: "YWJj" },
          }),
        );
    });
  });
  await once(fake, "listening");
  const { port } = fake.address() as { port: number };
  const it = await ExecClient.connect(`ws://127.0.0.1:${port}`, { limits, resume: false });
  const process = await it.start({ argv: ["x"], cwd: "/" });
  await expect(process.wait()).rejects.toMatchObject({ code: "protocol_violation" });
  await it.close();
  fake.close();
}

describe("a client honours", () => {
  test.each(Object.entries(checks))("%s", (_, check) => check());
});
