// What the client promises whatever the server does.
import { memoryTransportPair, type Transport } from "@codexkit/rpc";
import { tempFolder } from "@codexkit/testing";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RawClient } from "../../test/raw-client.ts";
import type { ClientLimits } from "../limits.ts";
import { ExecServer } from "../server/exec-server.ts";
import { ExecClient } from "./exec-client.ts";

async function connected(limits: Partial<ClientLimits> = {}) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await ExecServer.start());
  const client = stack.use(await ExecClient.connect(server.url ?? "", { limits }));
  const owner = stack.move();
  return { server, client, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

test("a reader who falls too far behind gets an error, and does not delay other processes", async () => {
  await using it = await connected({ unreadOutputBytes: 100_000 });
  const slow = await it.client.start({
    argv: ["/usr/bin/head", "-c", "3000000", "/dev/zero"],
    cwd: "/",
  });
  const quick = await it.client.start({ argv: ["/bin/echo", "quick"], cwd: "/" });
  expect(String((await quick.collect()).stdout)).toBe("quick\n");
  expect((await slow.wait()).exitCode).toBe(0);
  await expect(slow.collect()).rejects.toMatchObject({ code: "output_lost" });
});

test("while reading is paused nothing arrives, and afterwards everything does", async () => {
  await using it = await connected();
  let received = 0;
  await it.client.pauseReading(true);
  const starting = it.client.start({
    argv: ["/usr/bin/head", "-c", "3000000", "/dev/zero"],
    cwd: "/",
    onOutput: ({ bytes }) => {
      received += bytes.length;
    },
  });
  const status = it.client.request("environment/status", undefined, { timeoutMs: 100 });
  await expect(status).rejects.toMatchObject({ code: "timeout" });
  expect(received).toBe(0);
  await it.client.pauseReading(false);
  expect((await (await starting).wait()).exitCode).toBe(0);
  expect(received).toBe(3_000_000);
});

test("a call ends when its signal fires, and its place is free again", async () => {
  await using it = await connected();
  const process = await it.client.start({ argv: ["/bin/sleep", "60"], cwd: "/" });
  const giveUp = new AbortController();
  const read = it.client.request(
    "process/read",
    { processId: process.id, waitMs: 60_000 },
    { signal: giveUp.signal },
  );
  giveUp.abort();
  await expect(read).rejects.toMatchObject({ code: "aborted" });
  await expect(
    it.client.request("process/read", { processId: process.id, waitMs: 60_000 }, { timeoutMs: 20 }),
  ).rejects.toMatchObject({ code: "timeout" });
  expect(await process.kill()).toBe(true);
});

test.each(["disconnected", "aborted", "timeout"])(
  "a process whose start ends as %s is terminated",
  async (code) => {
    await using server = await ExecServer.start({ bwrap: null, listen: "none" });
    await using folder = await tempFolder("unanswered");
    const started = join(folder.path, "started");
    let isAnswered = true;
    let connection: Transport | undefined;
    const dial = async (): Promise<Transport> => {
      const [ours, theirs] = memoryTransportPair();
      server.accept(theirs);
      const isFirst = connection === undefined;
      connection = ours;
      return {
        start: (receiver) =>
          ours.start({
            text: (message) => {
              if (isAnswered || !isFirst) receiver.text(message);
            },
            malformed: (error) => receiver.malformed(error),
            closed: (cause) => receiver.closed(cause),
          }),
        send: (message) => ours.send(message),
        close: () => ours.close(),
      };
    };
    await using client = await ExecClient.connectWith(dial, { resumeDelayMs: () => 10 });
    isAnswered = false;
    const giveUp = new AbortController();
    const starting = client.start(
      { processId: "p1", argv: ["/bin/sh", "-c", `touch ${started}; sleep 600`], cwd: "/" },
      code === "timeout" ? { timeoutMs: 2_000 } : { signal: giveUp.signal },
    );
    starting.catch(() => {});
    await expect.poll(() => access(started).then(() => true)).toBe(true);
    if (code === "disconnected") await connection?.close();
    if (code === "aborted") giveUp.abort();
    await expect(starting).rejects.toMatchObject({ code });
    isAnswered = true;
    await expect
      .poll(async () => (await client.request("process/read", { processId: "p1", waitMs: 0 })).exited)
      .toBe(true);
  },
);

test("everything that waits ends when the session does", async () => {
  await using it = await connected();
  const process = await it.client.start({ argv: ["/bin/sleep", "60"], cwd: "/" });
  const read = it.client.request("process/read", { processId: process.id, waitMs: 60_000 });
  const ends = [read, process.wait(), process.collect()].map((promise) =>
    promise.then(
      () => "done",
      (error: { code: string }) => error.code,
    ),
  );
  await it.client.close();
  expect(await Promise.all(ends)).toEqual(["disconnected", "disconnected", "disconnected"]);
  expect((await it.client.closed).code).toBe("disconnected");
  await expect(it.client.start({ argv: ["true"], cwd: "/" })).rejects.toMatchObject({ code: "disconnected" });
});

test("a server that can't be reached, or started, is an error that says so", async () => {
  await expect(ExecClient.connect("ws://127.0.0.1:1")).rejects.toMatchObject({ code: "connect_failed" });
  await expect(ExecClient.launch({ command: "/no/such/program" })).rejects.toMatchObject({
    code: "launch_failed",
  });
  await expect(ExecClient.launch({ command: "/bin/false" })).rejects.toMatchObject({ code: "disconnected" });
});

test("many calls at once stay below the cap, and all are answered", async () => {
  await using it = await connected();
  const answers = await Promise.all(
    Array.from({ length: 3_000 }, () => it.client.request("environment/status", undefined)),
  );
  expect(answers.every(({ status }) => status === "ready")).toBe(true);
});

test("128 files may be open at once, and closing one makes room", async () => {
  await using it = await connected();
  using raw = await RawClient.ready(it.server.url ?? "");
  const open = (handleId: string) => raw.call("fs/open", { handleId, path: "file:///etc/hostname" });
  for (let index = 0; index < 128; index += 1) expect((await open(`h${index}`)).error).toBeUndefined();
  expect((await open("more")).error?.code).toBe(-32600);
  await raw.call("fs/close", { handleId: "h5" });
  expect((await open("more")).error).toBeUndefined();
});
