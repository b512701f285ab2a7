// Every limit that a server offers is honoured: each key has a test that would fail if it were ignored. Limits of sandboxes and
// of clients are in files of their own.
import { tempFolder } from "@codexkit/testing";
import { memoryTransportPair } from "@codexkit/rpc";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { WebSocket } from "ws";
import * as z from "zod";
import { describe, expect, test } from "vitest";
import { type LimitChecks, type SandboxLimit, shell } from "../test/limit-checks.ts";
import { RawClient } from "../test/raw-client.ts";
import { ExecClient } from "./client/exec-client.ts";
import { SERVER_LIMITS, type ServerLimits } from "./limits.ts";
import { Connection } from "./server/connection.ts";
import { ExecServer } from "./server/exec-server.ts";
import type { MessageSink } from "./server/message-sink.ts";
import { MessageWriter } from "./server/message-writer.ts";
import type { Method } from "./session/method.ts";
import { EpochFence } from "./session/epoch-fence.ts";
import { SessionStore } from "./session/session-store.ts";

async function serve(limits: Partial<ServerLimits>) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await ExecServer.start({ limits }));
  const url = server.url ?? "";
  const client = stack.use(await ExecClient.connect(url, { limits: { resumeTimeoutMs: 50 } }));
  const raw = stack.use(await RawClient.ready(url));
  const owner = stack.move();
  return { url, server, client, raw, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

const start = (processId: string, script: string) => ({
  processId,
  argv: shell(script),
  cwd: "file:///",
  env: {},
  tty: false,
});

interface TestMethod {
  readonly run: () => unknown;
  readonly sink?: MessageSink;
}

/** A connection without a transport, on which one method can be called. */
function openConnection(limits: ServerLimits, { run: runMethod, sink = NO_SINK }: TestMethod) {
  let isPaused = false;
  const inlet = { pause: () => (isPaused = true), resume: () => (isPaused = false), cut: () => {} };
  const method: Method = { params: z.object({}), lane: "ordinary", run: runMethod };
  const connection = new Connection(inlet, new MessageWriter(sink, () => {}, limits), {
    methods: () => new Map([["method", method]]),
    sessions: new SessionStore(limits),
    fence: new EpochFence(0),
    info: {},
    concurrentRequests: 1,
    resumable: false,
    limits,
  });
  const send = (message: object) => connection.receive(Buffer.from(JSON.stringify(message)));
  send({ id: 0, method: "initialize", params: { clientName: "x" } });
  send({ method: "initialized" });
  return {
    connection,
    call: (id: number) => send({ id, method: "method", params: {} }),
    isPaused: () => isPaused,
  };
}

const NO_SINK: MessageSink = { write: () => {}, cork: () => {}, uncork: () => {}, bufferedBytes: 0 };

async function readAll(raw: RawClient, processId: string): Promise<string> {
  for (;;) {
    const { result } = await raw.call("process/read", { processId, waitMs: 1_000 });
    if (result?.["closed"] !== true) continue;
    const chunks = result["chunks"] as { chunk: string }[];
    return chunks.map(({ chunk }) => String(Buffer.from(chunk, "base64"))).join("");
  }
}

async function run(raw: RawClient, processId: string, script: string): Promise<string> {
  await raw.call("process/start", start(processId, script));
  return readAll(raw, processId);
}

/** Runs `second` after the server has read the output of `first`, so that they are two chunks on a busy machine too. */
async function runInTwoParts(raw: RawClient, first: string, second: string): Promise<string> {
  await raw.call("process/start", { ...start("p", `${first}; read line; ${second}`), pipeStdin: true });
  await raw.call("process/read", { processId: "p", waitMs: 60_000 });
  await raw.call("process/write", { processId: "p", chunk: "Cg==", writeId: "1" });
  return readAll(raw, "p");
}

/** Resolves when a raw WebSocket was closed by the server. */
async function isClosed(socket: WebSocket): Promise<void> {
  if (socket.readyState !== WebSocket.CLOSED) await once(socket, "close");
}

const checks: LimitChecks<Exclude<keyof ServerLimits, SandboxLimit>> = {
  messageBytes: async () => {
    await using it = await serve({ messageBytes: 2_000 });
    it.raw.send({ id: 1, method: "environment/status", trace: null, pad: "x".repeat(3_000) });
    await isClosed(it.raw.socket);
  },
  messageFragments: async () => {
    await using it = await serve({ messageFragments: 4 });
    for (let count = 0; count < 6; count += 1) it.raw.socket.send(" ", { fin: false });
    await isClosed(it.raw.socket);
  },
  frameBytes: async () => {
    await using it = await serve({ frameBytes: 3_000 });
    const sizes: number[] = [];
    const socket = new WebSocket(it.url, { perMessageDeflate: false });
    await once(socket, "open");
    // The receiver of `ws` reports messages, not frames: their headers are read from the stream.
    const stream = (socket as unknown as { _socket: NodeJS.ReadableStream })._socket;
    let bytes = Buffer.alloc(0);
    stream.on("data", (piece: Buffer) => (bytes = Buffer.concat([bytes, piece])));
    socket.send(JSON.stringify({ id: "x".repeat(10_000), method: "environment/status" }));
    await once(socket, "message");
    for (let at = 0; at < bytes.length;) {
      const code = (bytes[at + 1] ?? 0) & 0x7f;
      const size = code === 126 ? bytes.readUInt16BE(at + 2) : code;
      sizes.push(size);
      at += size + (code === 126 ? 4 : 2);
    }
    socket.terminate();
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(3_000);
  },
  sessionTtlMs: async () => {
    await using it = await serve({ sessionTtlMs: 10 });
    const { sessionId } = it.client;
    await it.client.close();
    for (;;) {
      using again = await RawClient.open(it.url);
      const { error } = await again.call("initialize", { clientName: "x", resumeSessionId: sessionId });
      if (error?.message.startsWith("unknown session") === true) return;
    }
  },
  closedRetentionMs: async () => {
    await using it = await serve({ closedRetentionMs: 10 });
    await it.raw.call("process/start", start("p", "true"));
    for (;;) {
      const { error } = await it.raw.call("process/read", { processId: "p", waitMs: 0 });
      if (error?.message.startsWith("unknown process") === true) return;
    }
  },
  retainedBytes: async () => {
    await using it = await serve({ retainedBytes: 10 });
    expect(await runInTwoParts(it.raw, "printf 12345678", "printf abcd")).toBe("abcd");
  },
  retainedChunks: async () => {
    await using it = await serve({ retainedChunks: 1 });
    expect(await runInTwoParts(it.raw, "printf first", "printf second")).toBe("second");
  },
  closedRetainedBytes: async () => {
    await using it = await serve({ closedRetainedBytes: 10 });
    await run(it.raw, "p", "printf 12345678");
    await run(it.raw, "q", "printf 12345678");
    expect(await readAll(it.raw, "p")).toBe("");
  },
  outgoingHighBytes: async () => {
    // Nothing may wait: children are read only while the client has received everything.
    await using it = await serve({ outgoingHighBytes: 0, outgoingLowBytes: 0 });
    const process = await it.client.start({ argv: shell("head -c 300000 /dev/zero"), cwd: "/" });
    expect((await process.collect()).stdout.length).toBe(300_000);
  },
  outgoingLowBytes: async () => {
    await using it = await serve({ outgoingHighBytes: 1_000, outgoingLowBytes: 0 });
    const process = await it.client.start({ argv: shell("head -c 300000 /dev/zero"), cwd: "/" });
    expect((await process.collect()).stdout.length).toBe(300_000);
  },
  outgoingStopReadingBytes: async () => {
    const sink = { write: () => {}, cork: () => {}, uncork: () => {}, bufferedBytes: 11 };
    const limits = {
      ...SERVER_LIMITS,
      outgoingHighBytes: 5,
      outgoingLowBytes: 5,
      outgoingStopReadingBytes: 10,
    };
    let runs = 0;
    const { connection, call, isPaused } = openConnection(limits, { run: () => (runs += 1), sink });
    for (const id of [1, 2, 3]) call(id);
    // The client has not received what was sent before: nothing more is produced, and nothing more is read.
    expect([runs, isPaused()]).toEqual([0, true]);
    sink.bufferedBytes = 0;
    connection.relieved();
    expect([runs, isPaused()]).toEqual([3, false]);
    connection.ended();
  },
  rememberedSubjects: async () => {
    await using server = await ExecServer.start({ listen: "none", limits: { rememberedSubjects: 1 } });
    const isAccepted = async (subject: string, epoch: number): Promise<boolean> => {
      const [client, accepted] = memoryTransportPair();
      const { promise, resolve } = Promise.withResolvers<boolean>();
      client.start({ text: () => resolve(true), malformed: () => {}, closed: () => resolve(false) });
      server.accept(accepted, { claim: { subject, epoch } });
      void client.send('{"id":1,"method":"initialize","params":{"clientName":"x"}}');
      const isConnected = await promise;
      await client.close();
      return isConnected;
    };
    const attempts: (readonly [string, number])[] = [
      ["a", 2],
      ["a", 1],
      ["b", 2],
      ["a", 1],
    ];
    const accepted: boolean[] = [];
    for (const [subject, epoch] of attempts) accepted.push(await isAccepted(subject, epoch));
    expect(accepted).toEqual([true, false, true, true]);
  },
  queuedRequests: async () => {
    const limits = { ...SERVER_LIMITS, queuedRequests: 2 };
    const { connection, call, isPaused } = openConnection(limits, { run: () => new Promise(() => {}) });
    const paused = [1, 2, 3].map((id) => {
      call(id);
      return isPaused();
    });
    connection.ended();
    expect(paused).toEqual([false, false, true]);
  },
  processes: async () => {
    await using it = await serve({ processes: 2 });
    for (let id = 0; id < 10; id += 1) expect(await run(it.raw, `p${id}`, `printf ${id}`)).toBe(String(id));
    await it.raw.call("process/start", start("long1", "sleep 60"));
    await it.raw.call("process/start", start("long2", "sleep 60"));
    const { error } = await it.raw.call("process/start", start("long3", "sleep 60"));
    expect(error?.message).toContain("2 processes are running");
  },
  snapshots: async () => {
    expect(await profileRuns({ snapshots: 2 }, ["one", "two", "one"])).toBe(2);
    expect(await profileRuns({ snapshots: 1 }, ["one", "two", "one"])).toBe(3);
  },
  snapshotTimeoutMs: async () => {
    // It takes long only while it is captured.
    const profile = '[[ "$BASH_EXECUTION_STRING" == *printf* ]] && sleep 1';
    const slow = await profileRuns({ snapshotTimeoutMs: 10 }, ["one", "one"], profile);
    expect(slow).toBeGreaterThan(await profileRuns({}, ["one", "one"], profile));
  },
  snapshotBytes: async () => {
    const profile = `export LONG=${"x".repeat(5_000)}`;
    expect(await profileRuns({}, ["one", "one"], profile)).toBe(1);
    expect(await profileRuns({ snapshotBytes: 1_000 }, ["one", "one"], profile)).toBeGreaterThan(1);
  },
  pingIntervalMs: async () => {
    await using it = await serve({ pingIntervalMs: 10 });
    await once(it.raw.socket, "ping");
  },
  connections: async () => {
    await using it = await serve({ connections: 2 });
    await expect(RawClient.open(it.url)).rejects.toThrow(/hang up|ECONNRESET/);
  },
  pendingConnections: async () => {
    await expect(serve({ pendingConnections: 0 })).rejects.toMatchObject({ code: "connect_failed" });
  },
  handshakeTimeoutMs: async () => {
    // Without a client: on a busy machine its handshake may take longer.
    await using server = await ExecServer.start({ limits: { handshakeTimeoutMs: 20 } });
    const socket = connect(Number(new URL(server.url ?? "").port), "127.0.0.1");
    await once(socket.resume(), "close");
  },
  closeTimeoutMs: async () => {
    const { server: closing, client, raw } = await serve({ closeTimeoutMs: 0 });
    // Returns although closing takes longer; the rest ends in the background.
    await closing.close();
    await client.closed;
    await raw.closed();
  },
};

/** How often a profile ran for login shells with these scopes: a snapshot of a scope saves the second run. */
async function profileRuns(limits: Partial<ServerLimits>, scopes: string[], profile = ""): Promise<number> {
  await using folder = await tempFolder("limits");
  const log = join(folder.path, "log");
  await writeFile(join(folder.path, ".bash_profile"), `echo ran >> ${log}\n${profile}`);
  await using it = await serve(limits);
  for (const [index, scopeId] of scopes.entries()) {
    await it.raw.call("process/start", {
      processId: `p${index}`,
      argv: ["/bin/bash", "-lc", "true"],
      cwd: "file:///",
      env: { HOME: folder.path, PATH: "/usr/bin:/bin" },
      tty: false,
      shellSnapshot: { scopeId, shell: { name: "bash", path: "/bin/bash" } },
    });
    await readAll(it.raw, `p${index}`);
  }
  return (await readFile(log, "utf8")).split("\n").length - 1;
}

describe("a server honours", () => {
  test.each(Object.entries(checks))("%s", (_, check) => check());
});
