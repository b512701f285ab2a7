// Forwards streams to a real exec-server.
import { ExecServer } from "@codexkit/exec-server";
import { ExecClient } from "@codexkit/exec-server/client";
import { memoryTransportPair } from "@codexkit/rpc";
import { tempFolder } from "@codexkit/testing";
import { hash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Forwarder } from "./forwarder.ts";

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const TOKEN = "forward-token";

async function forwarded(token: string | undefined = TOKEN) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(
    await ExecServer.start({
      bwrap: null,
      auth: { mode: "capability-token", tokenSha256: hash("sha256", TOKEN) },
    }),
  );
  const forwarder = stack.use(
    new Forwarder({ url: server.url ?? "", log: SILENT, ...(token === undefined ? {} : { token }) }),
  );
  const dial = () => {
    const [ours, theirs] = memoryTransportPair();
    forwarder.accept(theirs);
    return Promise.resolve(ours);
  };
  const owner = stack.move();
  return { server, forwarder, dial, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

test("forwards commands and large messages in both directions", async () => {
  await using it = await forwarded();
  await using client = await ExecClient.connectWith(it.dial);
  await using folder = await tempFolder("forward");
  const command = await client.start({ argv: ["/usr/bin/seq", "200000"], cwd: "/" });
  expect((await command.collect()).stdout.length).toBe(1_288_895);
  // Larger than a frame of the exec-server.
  const content = Buffer.alloc(14_000_000, "abcdefghij");
  await client.files.write(join(folder.path, "large"), content);
  expect(content.equals(await client.files.read(join(folder.path, "large")))).toBe(true);
});

test("each stream has its own connection, and a session can be resumed over a new one", async () => {
  await using it = await forwarded();
  const transports: { close(): Promise<void> }[] = [];
  const dial = async () => {
    const transport = await it.dial();
    transports.push(transport);
    return transport;
  };
  await using first = await ExecClient.connectWith(dial, { resumeDelayMs: () => 10 });
  await using second = await ExecClient.connectWith(it.dial);
  expect(first.sessionId).not.toBe(second.sessionId);
  const command = await first.start({ argv: ["/bin/cat"], cwd: "/", pipeStdin: true });
  await transports[0]?.close();
  await command.stdin.write("resumed\n");
  for await (const { bytes } of command) {
    expect(String(bytes)).toBe("resumed\n");
    break;
  }
  await command.kill();
});

test("a stream ends when the exec-server can't be reached, refuses, or ends", async () => {
  await using it = await forwarded("wrong");
  await expect(ExecClient.connectWith(it.dial)).rejects.toMatchObject({ code: "disconnected" });
  await using other = await forwarded();
  await using client = await ExecClient.connectWith(other.dial, { resume: false });
  await other.server.close();
  expect((await client.closed).code).toBe("disconnected");
});

test("a URL of another protocol is refused", () => {
  expect(() => new Forwarder({ url: "http://127.0.0.1", log: SILENT })).toThrow("--connect");
});
