// `forward` in front of Codex's own exec-server, through our registry and rendezvous.
import { tempFolder } from "@codexkit/testing";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runExecutor } from "../src/executor/run-executor.ts";
import { connectHarness } from "../src/harness/connect-harness.ts";
import { startRealExecServer } from "./real-codex.ts";
import { ENVIRONMENT, startTestRegistry } from "./registry-fixture.ts";

async function forwarded() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startRealExecServer());
  const registry = stack.use(await startTestRegistry());
  const at = { registryUrl: registry.url, environmentId: ENVIRONMENT };
  const executor = stack.use(
    await runExecutor({
      ...at,
      credential: await registry.token("execute"),
      forwardTo: { url: server.url },
    }),
  );
  const credential = await registry.token("connect");
  const owner = stack.move();
  return {
    executor,
    connect: () => connectHarness({ ...at, credential }),
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

test("forwards commands, input and large messages to Codex's exec-server", async () => {
  await using it = await forwarded();
  await using client = await it.connect();
  const count = await client.start({ argv: ["/usr/bin/seq", "200000"], cwd: "/" });
  expect((await count.collect()).stdout.length).toBe(1_288_895);
  const echo = await client.start({ argv: ["/bin/sh", "-c", "cat; exit 3"], cwd: "/", pipeStdin: true });
  await echo.stdin.write("typed\n");
  for await (const { bytes } of echo) {
    expect(String(bytes)).toBe("typed\n");
    break;
  }
  await echo.kill();
  await using folder = await tempFolder("forward");
  // As base64, larger than the largest frame that Codex's exec-server accepts.
  const content = Buffer.alloc(14_000_000, "abcdefghij");
  await client.files.write(join(folder.path, "large"), content);
  expect(content.equals(await client.files.read(join(folder.path, "large")))).toBe(true);
});

test("gives each harness a session of its own", async () => {
  await using it = await forwarded();
  await using first = await it.connect();
  await using second = await it.connect();
  expect(first.sessionId).not.toBe(second.sessionId);
  const command = await first.start({ processId: "same", argv: ["/bin/sleep", "600"], cwd: "/" });
  const other = await second.start({ processId: "same", argv: ["/bin/true"], cwd: "/" });
  expect((await other.wait()).exitCode).toBe(0);
  await command.kill();
  expect((await command.wait()).exitCode).not.toBe(0);
});
