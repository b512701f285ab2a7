// Whatever a client sends, the server answers clearly or drops the connection: it never falls, hangs or leaks.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RawClient } from "./raw-client.ts";
import { ExecServer } from "../src/server/exec-server.ts";

let server: ExecServer;
let url: string;

beforeAll(async () => {
  server = await ExecServer.start();
  url = server.url ?? "";
});

afterAll(() => server.close());

async function stillServes(): Promise<void> {
  using client = await RawClient.ready(url);
  expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
}

describe("a message that can't be read", () => {
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const messages = [
    "{",
    "[]",
    "null",
    '"text"',
    '{"id":null,"method":"environment/status"}',
    '{"id":1.5,"method":"environment/status"}',
    '{"id":true,"method":"environment/status"}',
    '{"id":9223372036854775808,"method":"environment/status"}',
    '{"id":1,"id":2,"method":"environment/status"}',
    '{"id":1,"method":"environment/status","params":{"a":1,"a":2}}',
    '{"id":1,"method":"environment/status","params":{"a\\"b":1,"a\\"b":2}}',
    '{"id":1,"method":"environment/status","trace":5}',
    '{"id":1,"method":5}',
    "{}",
    deep(200),
    `{"id":1,"method":"environment/status","x":${deep(140)}}`,
    `{"id":1,"method":"environment/status","x":[${"0,".repeat(262_144)}0]}`,
  ];
  test.each(messages.map((text) => [text.slice(0, 100), text]))(
    "%s is answered with id -1, and the next request works",
    async (_, text) => {
      using client = await RawClient.ready(url);
      client.send(text);
      const { error } = await client.until(({ id }) => id === -1);
      expect(error?.code).toBe(-32600);
      expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
    },
  );

  test("deep nesting of a hundred thousand levels does not exhaust the stack", async () => {
    using client = await RawClient.ready(url);
    client.send(deep(100_000));
    expect((await client.until(({ id }) => id === -1)).error?.code).toBe(-32600);
  });
});

describe("an unusual but valid message", () => {
  test.each([
    ['{"id":9223372036854775807,"method":"environment/status"}', '"id":9223372036854775807'],
    ['{"id":-9223372036854775808,"method":"environment/status"}', '"id":-9223372036854775808'],
    ['{"id":"","method":"environment/status"}', '"id":""'],
    ['{"id":"a\\u0000\\"é","method":"environment/status"}', '"id":"a\\u0000\\"é"'],
    ['{"jsonrpc":"2.0","id":7,"method":"environment/status","other":{"a":[1]}}', '"id":7'],
    ['{"params":{},"method":"environment/status","id":-5,"trace":{"traceparent":null}}', '"id":-5'],
  ])("%s is answered with the same id", async (text, id) => {
    using client = await RawClient.ready(url);
    client.send(text);
    await client.until(({ result }) => result?.["status"] === "ready");
    expect(client.texts.at(-1)).toContain(id);
  });

  test("a binary frame is JSON too", async () => {
    using client = await RawClient.ready(url);
    client.socket.send(Buffer.from('{"id":3,"method":"environment/status"}'));
    expect((await client.until(({ id }) => id === 3)).result).toEqual({ status: "ready" });
  });
});

describe("a broken protocol ends the connection", () => {
  test.each([
    ["an unknown notification", '{"method":"bogus"}'],
    ["an answer to nothing", '{"id":1,"result":{}}'],
    ["an error to nothing", '{"id":1,"error":{"code":1,"message":"x"}}'],
  ])("%s", async (_what, text) => {
    using client = await RawClient.ready(url);
    client.send(text);
    await client.closed();
  });

  test("initialized before initialize", async () => {
    using client = await RawClient.open(url);
    client.send({ method: "initialized" });
    await client.closed();
  });

  test("a message above 64 MiB", async () => {
    using client = await RawClient.ready(url);
    client.send(`{"id":1,"method":"x","params":"${"a".repeat(64 * 1024 * 1024)}"}`);
    await client.closed();
    await stillServes();
  });
});

test("requests before the handshake are refused, later ones succeed", async () => {
  using client = await RawClient.open(url);
  expect((await client.call("environment/status")).error?.code).toBe(-32600);
  expect((await client.call("initialize", { clientName: 5 })).error?.code).toBe(-32602);
  expect((await client.call("initialize", { clientName: "x", resumeSessionId: "no" })).error?.code).toBe(
    -32600,
  );
  expect((await client.call("initialize", { clientName: "x" })).result?.["sessionId"]).toMatch(/-4/);
  expect((await client.call("environment/status")).error?.code).toBe(-32600);
  client.send({ method: "initialized" });
  client.send({ method: "initialized", params: { again: true } });
  expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
});

test("10,000 requests pipelined without reading are all answered", async () => {
  using client = await RawClient.ready(url);
  for (let id = 1; id <= 10_000; id += 1) client.send({ id: `r${id}`, method: "environment/status" });
  await client.when(() => client.messages.length >= 10_001);
  expect(new Set(client.messages.map(({ id }) => id)).size).toBe(10_001);
});

test("of many starts of one id exactly one wins", async () => {
  using client = await RawClient.ready(url);
  const params = { processId: "same", argv: ["sleep", "5"], cwd: "file:///", env: {}, tty: false };
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.call("process/start", params)));
  expect(answers.filter(({ result }) => result !== undefined).length).toBe(1);
  await client.call("process/terminate", { processId: "same" });
});

test("a start that is terminated before it runs ends at once", async () => {
  using client = await RawClient.ready(url);
  client.send({
    id: "s",
    method: "process/start",
    params: { processId: "p", argv: ["sleep", "60"], cwd: "file:///", env: {}, tty: false },
  });
  expect((await client.call("process/terminate", { processId: "p" })).result).toEqual({ running: true });
  await client.until(({ method }) => method === "process/closed");
});

test.each([false, true])(
  "terminating a process that has exited closes it, although a detached process holds its output (tty %s)",
  async (tty) => {
    using client = await RawClient.ready(url);
    const processId = `exited-${tty}`;
    // The detached process has told its ID before the program exits.
    const script = "setsid sh -c 'echo $$; exec sleep 300' & sleep 0.3; exit";
    const argv = ["/bin/sh", "-c", script];
    await client.call("process/start", { processId, argv, cwd: "file:///", env: { ...process.env }, tty });
    await client.until(({ method }) => method === "process/exited");
    const { params } = await client.until(({ method }) => method === "process/output");
    const pid = Number(Buffer.from(String(params?.["chunk"]), "base64"));
    try {
      expect(client.messages.some(({ method }) => method === "process/closed")).toBe(false);
      expect((await client.call("process/terminate", { processId })).result).toEqual({ running: false });
      await client.until(({ method }) => method === "process/closed");
    } finally {
      process.kill(pid);
    }
  },
);

test("what is not implemented is refused clearly", async () => {
  using client = await RawClient.ready(url);
  for (const method of ["process/resize"]) {
    expect((await client.call(method, {})).error).toMatchObject({
      code: -32601,
      message: expect.stringContaining(method),
    });
  }
  const start = { processId: "n", argv: ["true"], cwd: "file:///", env: {}, tty: false };
  for (const asked of [{ networkProxy: {} }, { managedNetwork: {} }, { enforceManagedNetwork: true }]) {
    expect((await client.call("process/start", { ...start, ...asked })).error?.code).toBe(-32602);
  }
});

test("random walks through the protocol leave a server that serves", { timeout: 120_000 }, async () => {
  const id = fc.constantFrom("a", "b", "", "\u0000", "é".repeat(20));
  const path = fc.constantFrom(
    "file:///tmp",
    "file:///etc/hostname",
    "file:///no/such",
    "file:///%00/bad/path/eA",
    "http://x",
    "",
    "file:///%ff",
  );
  const base64 = fc.constantFrom("", "eA==", "!", "eA=", "e-A=");
  const odd = fc.oneof(
    fc.anything({ maxDepth: 2 }).filter((value) => value !== undefined),
    fc.integer(),
    id,
    path,
  );
  const known: fc.Arbitrary<[string, object]> = fc.oneof(
    fc.tuple(
      fc.constant("process/start"),
      fc.record({
        processId: id,
        argv: fc.constantFrom(["true"], ["cat"], ["echo", "x"], ["sleep", "0.01"], []),
        cwd: path,
        env: fc.constant({ PATH: "/bin:/usr/bin" }),
        tty: fc.boolean(),
        pipeStdin: fc.boolean(),
      }),
    ),
    fc.tuple(
      fc.constant("process/read"),
      fc.record({
        processId: id,
        afterSeq: fc.integer({ min: -1, max: 5 }),
        maxBytes: fc.option(fc.nat()),
        waitMs: fc.constantFrom(0, 5),
      }),
    ),
    fc.tuple(fc.constant("process/write"), fc.record({ processId: id, chunk: base64, writeId: id })),
    fc.tuple(
      fc.constantFrom("process/terminate", "process/signal"),
      fc.record({ processId: id, signal: fc.constant("interrupt") }),
    ),
    fc.tuple(
      fc.constantFrom("fs/readFile", "fs/getMetadata", "fs/readDirectory", "fs/canonicalize"),
      fc.record({ path }),
    ),
    fc.tuple(
      fc.constantFrom("fs/open", "fs/close", "fs/readBlock"),
      fc.record({
        handleId: id,
        path,
        offset: fc.integer({ min: -1, max: 9 }),
        len: fc.integer({ min: 0, max: 99 }),
      }),
    ),
  );
  const step = fc.oneof(
    { weight: 6, arbitrary: known.map(([method, params]) => ({ method, params })) },
    {
      weight: 1,
      arbitrary: fc.record({
        method: fc.constantFrom("process/start", "fs/writeBlock", "fs/walk", "http/request", "initialize"),
        params: odd,
      }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      using client = await RawClient.ready(url);
      const answers = await Promise.all(steps.map(({ method, params }) => client.call(method, params)));
      for (const { error } of answers) {
        expect([undefined, -32600, -32601, -32602, -32603, -32004]).toContain(error?.code);
      }
      for (const processId of ["a", "b", "", "\u0000", "é".repeat(20)])
        await client.call("process/terminate", { processId });
      expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
      // Every process's numbers go up from 1 without a gap, in order.
      const next = new Map<unknown, number>();
      for (const { method, params } of client.messages) {
        if (!method?.startsWith("process/")) continue;
        const expected = next.get(params?.["processId"]) ?? 1;
        expect(params?.["seq"]).toBe(expected);
        next.set(params?.["processId"], expected + 1);
      }
    }),
    { numRuns: 40 },
  );
  await stillServes();
});

test("random bytes leave a server that serves", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), async (frames) => {
      using client = await RawClient.ready(url);
      for (const frame of frames) client.socket.send(frame);
      await client.when(
        () => client.isClosed || client.messages.filter(({ id }) => id === -1).length >= frames.length,
      );
    }),
    { numRuns: 30 },
  );
  await stillServes();
});
