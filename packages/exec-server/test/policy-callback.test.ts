// The server's question to its client, message by message: what a well-behaved client never does.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proxyParams, READ_ONLY, startWeb, visit } from "./network.ts";
import { RawClient } from "./raw-client.ts";
import { ExecServer } from "../src/server/exec-server.ts";

const HOST = "127.0.0.1";
let stack: AsyncDisposableStack;
let url: string;
let web: number;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  web = stack.use(await startWeb()).port;
  url = stack.use(await ExecServer.start()).url ?? "";
});

afterAll(() => stack.disposeAsync());

/** Starts a process that visits a host, and waits for the question about it. */
async function asked(client: RawClient, processId = "p", host = HOST) {
  await client.call("process/start", {
    processId,
    argv: visit("http", host, web),
    cwd: "file:///",
    env: { PATH: "/usr/bin:/bin" },
    tty: false,
    sandbox: READ_ONLY,
    networkProxy: { ...proxyParams({ allowLocalBinding: true }), policyDecisionTimeoutMs: 60_000 },
  });
  return client.until(({ method }) => method === "network/policyRequest");
}

/** All that a process printed, read from the session's own memory. */
async function outputOf(client: RawClient, processId = "p"): Promise<string> {
  let result: Record<string, unknown> = {};
  for (let round = 0; round < 50 && result["closed"] !== true; round += 1) {
    ({ result = {} } = await client.call("process/read", { processId, afterSeq: 0, waitMs: 200 }));
  }
  const chunks = result["chunks"] as { chunk: string }[];
  return chunks.map(({ chunk }) => String(Buffer.from(chunk, "base64"))).join("");
}

const allow = { decision: { type: "allow" } };

test("an answer that comes just before the end of the connection still counts", async () => {
  const first = await RawClient.ready(url);
  const { id } = await asked(first);
  first.send({ id, result: allow });
  first.socket.close();
  await first.closed();
  using second = await RawClient.ready(url, first.sessionId);
  expect(await outputOf(second)).toContain("a page");
});

test("a question that its connection took with it is a denial, and is not asked again", async () => {
  const first = await RawClient.ready(url);
  await asked(first);
  first.socket.terminate();
  await first.closed();
  using second = await RawClient.ready(url, first.sessionId);
  expect(await outputOf(second)).toContain('"reason":"not_allowed"');
  expect(second.messages.some(({ method }) => method === "network/policyRequest")).toBe(false);
});

describe("an answer", () => {
  test.each([
    ["an error", { error: { code: -32601, message: "what?" } }],
    ["nothing", { result: null }],
    ["something else", { result: { decision: { type: "yes" } } }],
    ["a decision beside the point", { result: { type: "allow" } }],
  ])("of %s is a denial", async (_what, answer) => {
    using client = await RawClient.ready(url);
    const { id } = await asked(client);
    client.send({ id, ...answer });
    expect(await outputOf(client)).toContain('"reason":"not_allowed"');
  });

  test("given twice, or after its request has ended, is ignored", async () => {
    using client = await RawClient.ready(url);
    const { id } = await asked(client);
    client.send({ id, result: { decision: { type: "deny", reason: "first" } } });
    client.send({ id, result: allow });
    expect(await outputOf(client)).toContain('"reason":"first"');
    client.send({ id, result: allow });
    expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
  });

  test.each([[2], [0], [-1], ["1"]])("to a question %j that never was ends the connection", async (id) => {
    using client = await RawClient.ready(url);
    await asked(client);
    client.send({ id, result: allow });
    await client.closed();
  });
});

test("a question names the process by any id of 256 bytes, and the host by any name of 253", async () => {
  using client = await RawClient.ready(url);
  const host = `${"a.".repeat(124)}test.`.slice(0, 252).replace(/\.?$/, "x");
  const processId = "é".repeat(128);
  const { params } = await asked(client, processId, host);
  expect(params).toEqual({ processId, request: { protocol: "http", host, port: web } });
  await client.call("process/terminate", { processId });
});

test("a host that is none is not asked about", async () => {
  using client = await RawClient.ready(url);
  await client.call("process/start", {
    processId: "p",
    argv: visit("http", `${"a.".repeat(127)}test`, web),
    cwd: "file:///",
    env: { PATH: "/usr/bin:/bin" },
    tty: false,
    sandbox: READ_ONLY,
    networkProxy: { ...proxyParams(), policyDecisionTimeoutMs: 60_000 },
  });
  expect(await outputOf(client)).toMatch(/^HTTP\/1\.1 400 /);
  expect(client.messages.some(({ method }) => method === "network/policyRequest")).toBe(false);
});
