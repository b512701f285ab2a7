// Clients whose transports were opened by the program that embeds the server.
import { memoryTransportPair, type Transport } from "@codexkit/rpc";
import { tempFolder } from "@codexkit/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ExecClient, type ExecDialOptions } from "../client/exec-client.ts";
import type { ServerLimits } from "../limits.ts";
import { ExecServer } from "./exec-server.ts";
import type { ByteTransport } from "./message-sink.ts";
import type { AcceptOptions } from "./transport-connections.ts";

/** As the encrypted streams of `@codexkit/relay`. */
function asByteTransport(transport: Transport): ByteTransport {
  return {
    start: (receiver) => transport.start(receiver),
    startBytes: (receiver) =>
      transport.start({
        text: (text) => receiver.message(Buffer.from(text)),
        malformed: () => {},
        closed: (cause) => receiver.closed(cause),
      }),
    send: (message) =>
      transport.send(typeof message === "string" ? message : Buffer.from(message).toString("utf8")),
    // Unacknowledged, but there is room for more: `send` would return a promise otherwise.
    bufferedBytes: 10_000_000,
    flush: () => {},
    close: () => transport.close(),
  };
}

interface EmbeddedOptions {
  readonly kind?: string;
  readonly accept?: AcceptOptions;
  readonly client?: ExecDialOptions;
  readonly limits?: Partial<ServerLimits>;
}

async function embedded({ kind = "text", accept = {}, client = {}, limits = {} }: EmbeddedOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await ExecServer.start({ listen: "none", limits }));
  const transports: Transport[] = [];
  const dial = (): Promise<Transport> => {
    const [ours, theirs] = memoryTransportPair();
    server.accept(kind === "bytes" ? asByteTransport(theirs) : theirs, accept);
    transports.push(ours);
    return Promise.resolve(ours);
  };
  const connected = stack.use(await ExecClient.connectWith(dial, client));
  const owner = stack.move();
  return { server, client: connected, dial, transports, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

test.each(["text", "bytes"])("commands, their input and files work over a transport of %s", async (kind) => {
  await using it = await embedded({ kind });
  await using folder = await tempFolder("accept");
  const command = await it.client.start({ argv: ["/bin/cat"], cwd: "/", tty: true });
  await command.stdin.write("ü✓\n\u0004");
  expect(String((await command.collect()).stdout)).toContain("ü✓\r\nü✓\r\n");
  const path = join(folder.path, "large");
  const content = Buffer.alloc(3_000_000, "0123456789");
  await it.client.files.write(path, content);
  expect(content.equals(await it.client.files.read(path))).toBe(true);
  expect(it.server.url).toBeUndefined();
});

test("a message that is split within a character arrives whole", async () => {
  await using it = await embedded({ limits: { frameBytes: 1000 } });
  await using folder = await tempFolder("accept");
  const names = Array.from({ length: 200 }, (_, index) => `größe-✓-${index}`);
  await Promise.all(names.map((name) => writeFile(join(folder.path, name), "")));
  const listed = (await it.client.files.list(folder.path)).map(({ fileName }) => fileName);
  expect(listed.toSorted()).toEqual(names.toSorted());
});

test.each(["text", "bytes"])("output is delivered whole and in order, as %s", async (kind) => {
  await using it = await embedded({ kind });
  const command = await it.client.start({ argv: ["/usr/bin/seq", "400000"], cwd: "/" });
  const { stdout } = await command.collect();
  expect(String(stdout)).toBe(Array.from({ length: 400_000 }, (_, index) => `${index + 1}\n`).join(""));
});

test("a session is resumed on a new transport, with its processes", async () => {
  const delays: number[] = [];
  await using it = await embedded({
    client: {
      resumeDelayMs: (attempt) => {
        delays.push(attempt);
        return 0;
      },
    },
  });
  const { sessionId } = it.client;
  const command = await it.client.start({ argv: ["/bin/cat"], cwd: "/", pipeStdin: true });
  await it.transports[0]?.close();
  await command.stdin.write("after\n");
  for await (const { bytes } of command) {
    expect(String(bytes)).toBe("after\n");
    break;
  }
  expect(it.client.sessionId).toBe(sessionId);
  expect(it.transports.length).toBe(2 + delays.length);
  await command.kill();
});

test("a dial that must not be repeated ends the session", async () => {
  const fatal = new Error("the environment was deleted");
  let dials = 0;
  await using it = await embedded({ client: { isRetryable: (error) => error !== fatal } });
  await using client = await ExecClient.connectWith(
    () => {
      dials += 1;
      return dials === 1 ? it.dial() : Promise.reject(fatal);
    },
    { isRetryable: (error) => error !== fatal },
  );
  await it.transports[1]?.close();
  expect((await client.closed).message).toContain("the environment was deleted");
  expect(dials).toBe(2);
});

test("a result that the transport can't carry is an error, and the connection continues", async () => {
  await using it = await embedded({ accept: { longestMessageBytes: 100_000 } });
  await using folder = await tempFolder("accept");
  const path = join(folder.path, "file");
  await writeFile(path, Buffer.alloc(80_000));
  await expect(it.client.files.read(path)).rejects.toMatchObject({ code: "refused", rpcCode: -32603 });
  await writeFile(path, Buffer.alloc(70_000));
  expect((await it.client.files.read(path)).length).toBe(70_000);
});

test("closing the server closes the transports that it accepted, and refuses new ones", async () => {
  await using it = await embedded({ client: { resume: false } });
  const command = await it.client.start({ argv: ["/bin/sleep", "60"], cwd: "/" });
  await it.server.close();
  await expect(command.wait()).rejects.toMatchObject({ code: "disconnected" });
  await expect(ExecClient.connectWith(it.dial)).rejects.toMatchObject({ code: "disconnected" });
});
