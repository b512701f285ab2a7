// Children end with their owner, sessions survive a cut, and a client that does not read costs no memory.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { tempFolder } from "@codexkit/testing";
import { describe, expect, test } from "vitest";
import { gone, lives, runtimeFolder } from "./processes.ts";
import { RawClient } from "./raw-client.ts";
import { startProgram } from "./servers.ts";
import { ExecClient } from "../src/client/exec-client.ts";
import { ExecServer } from "../src/server/exec-server.ts";

const shell = (script: string) => ["/bin/sh", "-c", script] as [string, ...string[]];

/** Resolves when a process has written nothing for a while: it waits for its reader. */
async function written(pid: number): Promise<void> {
  let last = "";
  for (let same = 0; same < 10; same += 1) {
    const now = (await readFile(`/proc/${pid}/io`, "utf8")).split("\n")[1] ?? "";
    if (now !== last) same = 0;
    last = now;
    await delay(50);
  }
}

/** Starts a child with a grandchild in the background, and one on a PTY; gives the pids of all. */
async function family(client: ExecClient): Promise<number[]> {
  const pids: number[] = [];
  for (const tty of [false, true]) {
    const process = await client.start({
      argv: shell("sleep 300 & echo $! $$; wait"),
      cwd: "/",
      tty,
      env: testEnv(),
    });
    const { value } = (await process[Symbol.asyncIterator]().next()) as { value: { bytes: Buffer } };
    pids.push(...String(value.bytes).trim().split(" ").map(Number));
  }
  return pids;
}

/** Children carry the mark of the test run, so that the check for litter sees them. */
function testEnv(): Record<string, string> {
  return { PATH: "/usr/bin:/bin", CODEXKIT_TEST_RUN: process.env["CODEXKIT_TEST_RUN"] ?? "" };
}

describe("children end", () => {
  test.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)("when the server gets %s", async (signal) => {
    await using server = await startProgram("ours", []);
    const client = await ExecClient.connect(server.url, { resume: false });
    const folder = await runtimeFolder(client);
    expect(existsSync(folder)).toBe(true);
    const pids = await family(client);
    expect(await Promise.all(pids.map(lives))).toEqual([true, true, true, true]);
    process.kill(server.process?.child.pid ?? 0, signal);
    await gone(pids);
    await client.closed;
    const end = await server.process?.ended;
    expect(end).toEqual(signal === "SIGKILL" ? { code: null, signal } : { code: 0, signal: null });
    await expect.poll(() => existsSync(folder)).toBe(false);
  });

  test("when their session is not resumed in time", async () => {
    await using server = await ExecServer.start({ limits: { sessionTtlMs: 100 } });
    const client = await ExecClient.connect(server.url ?? "");
    const pids = await family(client);
    await client.close();
    await gone(pids);
    using late = await RawClient.open(server.url ?? "");
    const { error } = await late.call("initialize", { clientName: "x", resumeSessionId: client.sessionId });
    expect(error?.code).toBe(-32600);
  });

  test("when a stdio server's input ends", async () => {
    const { OUR_BIN } = await import("./servers.ts");
    const client = await ExecClient.launch({
      command: process.execPath,
      args: [...OUR_BIN, "--listen", "stdio"],
    });
    const pids = await family(client);
    await client.close();
    await gone(pids);
  });

  test("with all that they left in the background, when the session ends", async () => {
    await using server = await ExecServer.start({ limits: { sessionTtlMs: 50 } });
    const client = await ExecClient.connect(server.url ?? "");
    const script = "sleep 300 >/dev/null 2>&1 & echo $!";
    const process = await client.start({ argv: shell(script), cwd: "/", env: testEnv() });
    const pid = Number(String((await process.collect()).stdout));
    expect(await lives(pid)).toBe(true);
    await client.close();
    await gone([pid]);
  });
});

test("a child that left its group with setsid ends with its process", async () => {
  await using server = await ExecServer.start();
  await using client = await ExecClient.connect(server.url ?? "");
  const script = "setsid sh -c 'echo $$; exec sleep 300' & wait";
  const started = await client.start({ argv: shell(script), cwd: "/", env: testEnv() });
  const { value } = (await started[Symbol.asyncIterator]().next()) as { value: { bytes: Buffer } };
  const pid = Number(String(value.bytes));
  expect(await lives(pid)).toBe(true);
  await started.kill();
  await gone([pid]);
});

describe("a session", () => {
  test("is refused to a second connection while it is attached", async () => {
    await using server = await ExecServer.start();
    using first = await RawClient.ready(server.url ?? "");
    using second = await RawClient.open(server.url ?? "");
    const resume = { clientName: "x", resumeSessionId: first.sessionId };
    expect((await second.call("initialize", resume)).error?.code).toBe(-32010);
    first.socket.terminate();
    await first.closed();
    for (;;) {
      const { error, result } = await second.call("initialize", resume);
      if (error?.code === -32010) continue;
      expect(result?.["sessionId"]).toBe(first.sessionId);
      break;
    }
  });

  test("resumes at once when its connection breaks during a long read, and keeps the process", async () => {
    await using server = await ExecServer.start();
    await using folder = await tempFolder("robustness");
    const resumed = join(folder.path, "resumed");
    const first = await RawClient.ready(server.url ?? "");
    await first.call("process/start", {
      processId: "p",
      argv: shell(`until [ -e ${resumed} ]; do sleep 0.05; done; echo x; sleep 60`),
      cwd: "file:///",
      env: {},
      tty: false,
    });
    first.send({ id: "read", method: "process/read", params: { processId: "p", waitMs: 60_000 } });
    await first.call("environment/status");
    first.socket.terminate();
    await first.closed();
    using second = await RawClient.open(server.url ?? "");
    let answer = await second.call("initialize", { clientName: "x", resumeSessionId: first.sessionId });
    while (answer.error?.code === -32010) {
      answer = await second.call("initialize", { clientName: "x", resumeSessionId: first.sessionId });
    }
    await writeFile(resumed, "");
    // The notification needs no `initialized`.
    await second.until(({ method }) => method === "process/output");
    second.send({ method: "initialized" });
    expect((await second.call("process/terminate", { processId: "p" })).result).toEqual({ running: true });
    expect((await second.call("fs/readBlock", { handleId: "old", offset: 0, len: 1 })).error?.code).toBe(
      -32004,
    );
  });

  test("forgets a closed process after its retention, and its id is free", async () => {
    await using server = await ExecServer.start({ limits: { closedRetentionMs: 30 } });
    using client = await RawClient.ready(server.url ?? "");
    const start = { processId: "p", argv: ["true"], cwd: "file:///", env: {}, tty: false };
    await client.call("process/start", start);
    await client.until(({ method }) => method === "process/closed");
    let again = await client.call("process/start", start);
    while (again.error?.code === -32600) again = await client.call("process/start", start);
    expect(again.result?.["processId"]).toBe("p");
  });
});

describe("order of requests", () => {
  test("control calls do not wait behind long reads", async () => {
    await using server = await ExecServer.start({ concurrentRequests: 1 });
    using client = await RawClient.ready(server.url ?? "");
    await client.call("process/start", {
      processId: "p",
      argv: ["sleep", "60"],
      cwd: "file:///",
      env: {},
      tty: false,
    });
    client.send({ id: "long", method: "process/read", params: { processId: "p", waitMs: 60_000 } });
    client.send({
      id: "start",
      method: "process/start",
      params: { processId: "q", argv: ["true"], cwd: "file:///", env: {}, tty: false },
    });
    expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
    expect(client.messages.some(({ id }) => id === "start")).toBe(false);
    expect((await client.call("process/terminate", { processId: "p" })).result).toEqual({ running: true });
    await client.until(({ id }) => id === "start");
    const ids = client.messages.map(({ id }) => id);
    expect(ids.indexOf("long")).toBeLessThan(ids.indexOf("start"));
  });
});

/** 300 MB take long on a busy machine. */
const TRANSFER_MS = 50_000;

test.each([
  { tty: false, total: 300_000_000 },
  { tty: true, total: 30_000_000 },
])(
  "a child waits when the client stops reading, and memory stays bounded (tty $tty)",
  { timeout: 60_000 },
  async ({ tty, total }) => {
    await using server = await startProgram("ours", []);
    const serverPid = server.process?.child.pid ?? 0;
    const residentMb = async () =>
      Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${serverPid}/status`, "utf8"))?.[1]) / 1000;
    using client = await RawClient.ready(server.url);
    const before = await residentMb();
    const script = `echo $$; exec head -c ${total} /dev/zero`;
    await client.call("process/start", {
      processId: "p",
      argv: shell(script),
      cwd: "file:///",
      env: testEnv(),
      tty,
    });
    const first = await client.until(({ method }) => method === "process/output");
    const pidLine = /^(?<pid>\d+)\r?\n/.exec(
      Buffer.from(String(first.params?.["chunk"]), "base64").toString("latin1"),
    );
    client.socket.pause();
    await written(Number(pidLine?.groups?.["pid"]));
    expect((await residentMb()) - before).toBeLessThan(60);
    client.socket.resume();
    // It goes on where it stopped, and nothing is missing.
    let bytes = 0;
    let seen = 0;
    await client.when(() => {
      for (; seen < client.messages.length; seen += 1) {
        const { method, params } = client.messages[seen] ?? {};
        if (method === "process/output") bytes += Buffer.from(String(params?.["chunk"]), "base64").length;
        client.messages[seen] = { method: method ?? "" };
        client.texts[seen] = "";
      }
      return client.messages.some(({ method }) => method === "process/closed");
    }, TRANSFER_MS);
    expect(bytes).toBe(total + (pidLine?.[0].length ?? 0));
  },
);

test("500 PTY and 500 pipe runs lose no byte", { timeout: 180_000 }, async () => {
  await using server = await ExecServer.start();
  await using client = await ExecClient.connect(server.url ?? "");
  const plain = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join("");
  const expected = [plain.length, plain.length + 20_000];
  for (let batch = 0; batch < 50; batch += 1) {
    const sizes = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const process = await client.start({
          argv: ["/usr/bin/seq", "1", "20000"],
          cwd: "/",
          tty: index % 2 === 1,
        });
        return (await process.collect()).stdout.length;
      }),
    );
    expect(sizes).toEqual(Array.from({ length: 10 }, () => expected).flat());
  }
});

test("a launcher that was killed is replaced, and its children are not left behind", async () => {
  await using server = await startProgram("ours", []);
  await using client = await ExecClient.connect(server.url);
  const pids = await family(client);
  const launcher = (
    await readFile(`/proc/${server.process?.child.pid}/task/${server.process?.child.pid}/children`, "utf8")
  )
    .trim()
    .split(" ")
    .map(Number);
  for (const pid of launcher) process.kill(pid, "SIGKILL");
  await gone(pids);
  for (;;) {
    const process = await client.start({ argv: ["/bin/echo", "again"], cwd: "/" }).catch(() => undefined);
    if (!process) continue;
    expect(String((await process.collect()).stdout)).toBe("again\n");
    break;
  }
});

test("nothing is left of a program that could not listen", async () => {
  await using server = await startProgram("ours", []);
  const port = new URL(server.url).port;
  await expect(startProgram("ours", ["--listen", `ws://127.0.0.1:${port}`])).rejects.toThrow(/listen/);
});

test("a child that waited for a slow client goes on when that client is gone, and nothing of it is lost", async () => {
  await using server = await ExecServer.start();
  const first = await RawClient.ready(server.url ?? "");
  const script = "head -c 400000 /dev/zero; echo end";
  await first.call("process/start", {
    processId: "p",
    argv: shell(script),
    cwd: "file:///",
    env: testEnv(),
    tty: false,
  });
  first.socket.terminate();
  await first.closed();
  using second = await RawClient.open(server.url ?? "");
  const resume = { clientName: "x", resumeSessionId: first.sessionId };
  let answer = await second.call("initialize", resume);
  while (answer.error?.code === -32010) answer = await second.call("initialize", resume);
  second.send({ method: "initialized" });
  let read = await second.call("process/read", { processId: "p", waitMs: 5_000 });
  while (read.result?.["closed"] !== true)
    read = await second.call("process/read", { processId: "p", waitMs: 100 });
  const chunks = read.result?.["chunks"] as { chunk: string }[];
  expect(chunks.reduce((sum, { chunk }) => sum + Buffer.from(chunk, "base64").length, 0)).toBe(400_004);
});
