// Both ends of the relay, with a small registry whose failures the tests control.
import { tempFolder } from "@codexkit/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFakeRegistry } from "../../test/fake-registry.ts";
import { type Executor, type ExecutorOptions, runExecutor } from "../executor/run-executor.ts";
import { generateIdentity, type PublicKeyJson, toPublicKeyJson } from "../noise/identity.ts";
import { connectHarness, type HarnessOptions } from "./connect-harness.ts";

let registry: Awaited<ReturnType<typeof startFakeRegistry>>;
let executor: Executor;

const executorOptions = (more: Partial<ExecutorOptions> = {}): ExecutorOptions => ({
  registryUrl: registry.url,
  environmentId: "env 1",
  credential: registry.token,
  server: { bwrap: null },
  ...more,
});

const connect = (more: Partial<HarnessOptions> = {}) =>
  connectHarness({ registryUrl: registry.url, environmentId: "env 1", credential: registry.token, ...more });

beforeAll(async () => {
  registry = await startFakeRegistry();
  executor = await runExecutor(executorOptions());
});

afterAll(async () => {
  await executor.close();
  await registry[Symbol.asyncDispose]();
});

test("runs commands and reads and writes files", async () => {
  await using client = await connect();
  await using folder = await tempFolder("relay");
  const command = await client.start({
    argv: ["/bin/sh", "-c", "cat; exit 3"],
    cwd: "/",
    tty: false,
    pipeStdin: true,
  });
  await command.stdin.write("in\n");
  for await (const { bytes } of command) {
    expect(String(bytes)).toBe("in\n");
    break;
  }
  await command.kill();
  const content = Buffer.alloc(1_000_000, "0123456789abcdef");
  await client.files.write(join(folder.path, "file"), content);
  expect(content.equals(await readFile(join(folder.path, "file")))).toBe(true);
  expect(content.equals(await client.files.read(join(folder.path, "file")))).toBe(true);
});

test("resumes its session with its processes when all connections are lost", async () => {
  await using client = await connect();
  const { sessionId } = client;
  const command = await client.start({ argv: ["/bin/cat"], cwd: "/", pipeStdin: true });
  registry.disconnectAll();
  await command.stdin.write("after\n");
  for await (const { bytes } of command) {
    expect(String(bytes)).toBe("after\n");
    break;
  }
  await command.kill();
  expect(client.sessionId).toBe(sessionId);
  expect(executor.status.state).toBe("connected");
});

test("an executor registers again when its URL is no longer accepted", async () => {
  const registrations = () => registry.calls.filter((call) => call === "register").length;
  const before = registrations();
  registry.environments.clear();
  registry.disconnectAll();
  await using client = await connect();
  expect((await (await client.start({ argv: ["/bin/true"], cwd: "/" })).wait()).exitCode).toBe(0);
  expect(registrations()).toBe(before + 1);
});

test("connects only to the pinned executor", async () => {
  await using client = await connect({ executorKey: executor.publicKey as PublicKeyJson });
  expect(client.sessionId).not.toBe("");
  const other = toPublicKeyJson(generateIdentity().publicKey);
  await expect(connect({ executorKey: other })).rejects.toMatchObject({ code: "protocol_violation" });
});

test("a harness whose key is not valid is refused, and counted", async () => {
  const before = executor.counters.handshakesUnauthorized;
  registry.faults.isValid = false;
  const signal = AbortSignal.timeout(10_000);
  const refused = connect({ signal }).catch((error: unknown) => error);
  await expect.poll(() => executor.counters.handshakesUnauthorized).toBeGreaterThan(before);
  registry.faults.isValid = true;
  // The next attempt, with a new authorization, succeeds.
  const client = await refused;
  expect(client).toHaveProperty("sessionId");
  await (client as AsyncDisposable)[Symbol.asyncDispose]();
});

test("rejects if the first registration fails", async () => {
  await expect(runExecutor(executorOptions({ credential: "wrong" }))).rejects.toMatchObject({
    code: "unauthorized",
  });
  await expect(connect({ credential: "wrong" })).rejects.toMatchObject({ code: "unauthorized" });
});

test("an executor can refuse a valid key with its own rule", async () => {
  const rejected: unknown[] = [];
  await using second = await runExecutor(
    executorOptions({
      environmentId: "env 2",
      isTrustedHarness: (key) => {
        rejected.push(key);
        return false;
      },
    }),
  );
  const identity = generateIdentity();
  const giveUp = new AbortController();
  const refused = connect({ environmentId: "env 2", identity, signal: giveUp.signal });
  await expect.poll(() => second.counters.handshakesUnauthorized).toBeGreaterThan(0);
  giveUp.abort();
  await expect(refused).rejects.toMatchObject({ code: "aborted" });
  expect(rejected[0]).toEqual(toPublicKeyJson(identity.publicKey));
});

test("closing an executor ends its processes and reports it", async () => {
  const states: string[] = [];
  const stop = new AbortController();
  const third = await runExecutor(
    executorOptions({
      environmentId: "env 3",
      signal: stop.signal,
      onStatus: ({ state }) => void states.push(state),
    }),
  );
  await using client = await connect({ environmentId: "env 3", resume: false });
  const command = await client.start({ argv: ["/bin/sleep", "60"], cwd: "/" });
  stop.abort();
  await third.closed;
  await expect(command.wait()).rejects.toMatchObject({ code: "disconnected" });
  expect(states).toEqual(["registered", "connected", "closed"]);
});
