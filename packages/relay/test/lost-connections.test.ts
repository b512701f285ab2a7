// Both of our ends, with the reliability extension, over bad links and through rendezvous that disappear.
import { PostgresServer } from "@codexkit/store/testing";
import { findFreePort, OwnedProcess, repetitions, tempFolder } from "@codexkit/testing";
import type { ExecClient } from "@codexkit/exec-server/client";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runExecutor } from "../src/executor/run-executor.ts";
import { connectHarness } from "../src/harness/connect-harness.ts";
import { createCounters, type RelayCounters } from "../src/stream/counters.ts";
import type { FrameFilter } from "../src/registry/rendezvous/rendezvous-counters.ts";
import { faultyLink, seededRandom } from "./faulty-link.ts";
import { startRestartableRegistry } from "./pairings.ts";
import { ENVIRONMENT, startTestRegistry, type TestRegistry } from "./registry-fixture.ts";

const MIB = 1024 * 1024;
/** A soak moves much more, over links that lose much of it. */
const SLOW = { timeout: repetitions({ test: 120_000, soak: 1_800_000 }) };

/** Bytes that repeat only after a long time, so that a lost, repeated or moved piece changes the hash. */
const PATTERN =
  "openssl enc -aes-128-ctr -K 00112233445566778899aabbccddeeff -iv 00 -in /dev/zero 2>/dev/null | head -c";

/** Reads the output of a command slowly enough to act in the middle, and returns its length and hash. */
async function hashOutput(client: ExecClient, bytes: number, onHalf: () => Promise<void> = async () => {}) {
  const hash = createHash("sha256");
  let length = 0;
  let half: Promise<void> | undefined;
  const command = await client.start({
    argv: ["/bin/bash", "-c", `${PATTERN} ${bytes}`],
    cwd: "/",
    onOutput: (output) => {
      hash.update(output.bytes);
      length += output.bytes.length;
      if (length >= bytes / 2) half ??= onHalf();
    },
  });
  const { exitCode } = await command.wait();
  await half;
  return { exitCode, length, hash: hash.digest("hex") };
}

/** A node that shuts down may deliver the rest of the output before it closes the connection. The stream is then resumed later. */
async function expectResumed(counters: RelayCounters): Promise<void> {
  await expect.poll(() => counters.streamsResumed).toBeGreaterThan(0);
  expect(counters.streamsOpened).toBe(1);
}

interface TestNode {
  readonly url: string;
  token(scope: "execute" | "connect"): Promise<string>;
}

async function ends(registry: TestNode, beforeHarness = (): void => {}) {
  await using stack = new AsyncDisposableStack();
  const environmentId = ENVIRONMENT;
  const counters = createCounters();
  const executor = stack.use(
    await runExecutor({
      registryUrl: registry.url,
      environmentId,
      credential: await registry.token("execute"),
      server: { bwrap: null },
    }),
  );
  beforeHarness();
  const client = stack.use(
    await connectHarness({
      registryUrl: registry.url,
      environmentId,
      credential: await registry.token("connect"),
      counters,
    }),
  );
  const owner = stack.move();
  return { executor, client, counters, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

test("a link that loses, repeats and reorders frames delivers everything in order", SLOW, async () => {
  const size = repetitions({ test: 2, soak: 100 }) * MIB;
  const faults = faultyLink({ drop: 0.2, duplicate: 0.1, reorder: 0.2 }, seededRandom(20));
  let isFaulty = false;
  const frameFilter: FrameFilter = (frame, _direction, deliver) =>
    isFaulty ? faults(frame as Buffer, deliver) : deliver(frame);
  await using registry = await startTestRegistry({}, { frameFilter });
  await using it = await ends(registry);
  const expected = await hashOutput(it.client, size);
  isFaulty = true;
  expect(await hashOutput(it.client, size)).toEqual(expected);
  expect(it.executor.counters.framesRetransmitted).toBeGreaterThan(0);
  expect(it.counters.framesDuplicate).toBeGreaterThan(0);
});

test("nothing is lost while there is no rendezvous", SLOW, async () => {
  await using registry = await startRestartableRegistry();
  const at = { registryUrl: (await registry.at("execute")).registryUrl, environmentId: ENVIRONMENT };
  const execute = (await registry.at("execute")).token;
  await using _executor = await runExecutor({ ...at, credential: execute, server: { bwrap: null } });
  const counters = createCounters();
  await using client = await connectHarness({
    ...at,
    credential: (await registry.at("connect")).token,
    counters,
  });
  const size = repetitions({ test: 8, soak: 100 }) * MIB;
  const expected = await hashOutput(client, size);
  const interrupted = await hashOutput(client, size, async () => {
    await registry.stop();
    // Ten seconds in a soak run; the ends can't tell how long it was, except for the number of their attempts.
    await new Promise((resolve) => void setTimeout(resolve, repetitions({ test: 0, soak: 10_000 })));
    await registry.start();
  });
  expect(interrupted).toEqual(expected);
  await expectResumed(counters);
});

test("nothing is lost when a rendezvous is killed and started again", SLOW, async () => {
  await using folder = await tempFolder("killed-rendezvous");
  const store = folder.path;
  const tokens = await createTokens(store);
  const port = await findFreePort();
  await using stack = new AsyncDisposableStack();
  const first = stack.use(await startNodeProgram({ store, port }));
  await using it = await ends({ url: first.url, token: async (scope) => tokens[scope] });
  const size = repetitions({ test: 8, soak: 100 }) * MIB;
  const expected = await hashOutput(it.client, size);
  const interrupted = await hashOutput(it.client, size, async () => {
    await first.kill();
    await new Promise((resolve) => void setTimeout(resolve, repetitions({ test: 500, soak: 10_000 })));
    stack.use(await startNodeProgram({ store, port }));
  });
  expect(interrupted).toEqual(expected);
  await expectResumed(it.counters);
});

test("the streams of a node that disappears move to the other one", SLOW, async () => {
  await using postgres = await PostgresServer.start();
  const store = await postgres.createDatabase();
  await using balancer = await startBalancer();
  const first = await startTestRegistry({ store, publicUrl: balancer.url });
  await using second = await startTestRegistry({ store, publicUrl: balancer.url });
  // The executor is connected to the second node, and the harness to the first.
  balancer.nodes.push(nodeUrlOf(second));
  await using it = await ends(second, () => balancer.nodes.splice(0, 1, nodeUrlOf(first)));
  const size = repetitions({ test: 8, soak: 100 }) * MIB;
  const expected = await hashOutput(it.client, size);
  const moved = await hashOutput(it.client, size, async () => {
    balancer.nodes.splice(0, 1, nodeUrlOf(second));
    await first[Symbol.asyncDispose]();
  });
  expect(moved).toEqual(expected);
  await expectResumed(it.counters);
});

test("the streams of a node that is killed move to the other one", SLOW, async () => {
  await using postgres = await PostgresServer.start();
  const store = await postgres.createDatabase();
  await using balancer = await startBalancer();
  await using second = await startTestRegistry({ store, publicUrl: balancer.url });
  await using first = await startNodeProgram({ store, publicUrl: balancer.url });
  balancer.nodes.push(first.url);
  await using it = await ends(second);
  const size = repetitions({ test: 8, soak: 100 }) * MIB;
  const expected = await hashOutput(it.client, size);
  const moved = await hashOutput(it.client, size, async () => {
    balancer.nodes.splice(0, 1, nodeUrlOf(second));
    await first.kill();
  });
  expect(moved).toEqual(expected);
  await expectResumed(it.counters);
});

test("a session whose executor does not return says so", SLOW, async () => {
  await using registry = await startTestRegistry();
  const at = { registryUrl: registry.url, environmentId: ENVIRONMENT };
  const credential = await registry.token("execute");
  await using executor = await runExecutor({ ...at, credential, server: { bwrap: null } });
  await using client = await connectHarness({
    ...at,
    credential: await registry.token("connect"),
    limits: { resumeTimeoutMs: 3_000 },
  });
  const command = await client.start({ argv: ["/bin/sleep", "60"], cwd: "/" });
  await executor.close();
  await expect(command.wait()).rejects.toThrow("The environment has no connected executor");
});

/** Tokens of a store that no registry uses now. */
async function createTokens(store: string) {
  await using registry = await startTestRegistry({ store });
  return { execute: await registry.token("execute"), connect: await registry.token("connect") };
}

interface NodeProgramOptions {
  readonly store: string;
  /** Default: a free port. */
  readonly port?: number;
  readonly publicUrl?: string;
}

/** A node as a process, which can be killed. */
async function startNodeProgram({ store, port = 0, publicUrl }: NodeProgramOptions) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await tempFolder("node"));
  const auditFile = join(folder.path, "audit.log");
  const files = ["--token-file", join(folder.path, "token"), "--audit-file", auditFile];
  const program = stack.use(
    new OwnedProcess({
      command: process.execPath,
      args: [
        "--conditions=codexkit:source",
        fileURLToPath(new URL("registry-program.ts", import.meta.url)),
        "serve",
        "--listen",
        `127.0.0.1:${port}`,
        "--store",
        store,
        ...(publicUrl === undefined ? [] : ["--public-url", publicUrl]),
        ...files,
      ],
      env: process.env,
    }),
  );
  await once(program.child.stdout, "data");
  const audit = await readFile(auditFile, "utf8");
  const owner = stack.move();
  return {
    url: nodeUrlOf({ audit: [audit] }),
    kill: async () => {
      program.child.kill("SIGKILL");
      await program.ended;
    },
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** Where a node listens on its own: the log of its start has it. */
function nodeUrlOf({ audit }: Pick<TestRegistry, "audit">): string {
  return /http:\/\/[\d.:]+/.exec(audit.join("\n"))?.[0] ?? "";
}

/** Passes each connection to the next node in turn, as a load balancer does. */
async function startBalancer() {
  const nodes: string[] = [];
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((client) => {
    const { hostname, port } = new URL(nodes[next++ % nodes.length] ?? "http://127.0.0.1:1");
    const node = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, node],
      [node, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    nodes,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
