import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startProxyListener, startWeb } from "../../test/network.ts";
import { socksListener } from "./socks-listener.ts";
import type { Target } from "./verdict.ts";

let stack: AsyncDisposableStack;
let listener: number;
let connections: () => Promise<number>;
let web: number;
const seen: Target[] = [];

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  web = stack.use(await startWeb()).port;
  ({ port: listener, connections } = stack.use(
    await startProxyListener(socksListener, (target) => seen.push(target)),
  ));
});

afterAll(() => stack.disposeAsync());

const GREETING = [5, 1, 0];
const port = (number: number) => [Math.trunc(number / 256), number % 256];
const name = (text: string) => [3, text.length, ...Buffer.from(text)];
const GET = [...Buffer.from("GET / HTTP/1.0\r\n\r\n")];

/** Says these bytes, maybe one at a time, and gives all that comes back. */
async function say(bytes: readonly number[], piece = Infinity): Promise<Buffer> {
  const socket = connect({ port: listener, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  socket.on("error", () => {});
  const answer = Array.fromAsync(socket as AsyncIterable<Buffer>).then((all) => Buffer.concat(all));
  for (let at = 0; at < bytes.length; at += piece) {
    await new Promise((resolve) => socket.write(Buffer.from(bytes.slice(at, at + piece)), resolve));
  }
  socket.end();
  return answer;
}

test.each([Infinity, 1])("reaches a host by name and by address, in pieces of %s", async (piece) => {
  for (const address of [[1, 127, 0, 0, 1], name("name.test"), name("127.0.0.1")]) {
    const answer = await say([...GREETING, 5, 1, 0, ...address, ...port(web), ...GET], piece);
    expect([...answer.subarray(0, 12)]).toEqual([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    expect(String(answer)).toContain("a page");
  }
});

test.each([
  ["a host that is not allowed", [5, 1, 0, ...name("evil.test"), 0, 80], 2],
  ["an address that is not allowed", [5, 1, 0, 4, ...Array<number>(15).fill(0), 1, 0, 80], 2],
  ["a closed port", [5, 1, 0, 1, 127, 0, 0, 1, 0, 1], 4],
  ["to be listened for", [5, 2, 0, 1, 127, 0, 0, 1, 0, 80], 7],
  ["UDP", [5, 3, 0, 1, 0, 0, 0, 0, 0, 0], 7],
  ["an address of an unknown kind", [5, 1, 0, 9, 1, 2, 3], 8],
  ["a name that is none", [5, 1, 0, ...name("a b"), 0, 80], 1],
  ["port 0", [5, 1, 0, 1, 127, 0, 0, 1, 0, 0], 1],
])("refuses %s", async (_what, request, code) => {
  expect([...(await say([...GREETING, ...request]))].slice(0, 4)).toEqual([5, 0, 5, code]);
});

test("sees an IPv6 address as one", async () => {
  await say([...GREETING, 5, 1, 0, 4, ...Array<number>(15).fill(0), 1, 0, 80]);
  expect(seen.at(-1)).toMatchObject({ protocol: "socks5_tcp", host: "::1", port: 80 });
});

test("takes no client that insists on a password", async () => {
  expect([...(await say([5, 1, 2]))]).toEqual([5, 255]);
});

test("ends whatever else it is told", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (bytes) => {
      // A connection that is reset has ended too.
      await say([...bytes]).catch(() => {});
    }),
    { numRuns: 60 },
  );
  await expect.poll(() => connections()).toBe(0);
});
