import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { lineScript, nodeChild } from "../test/node-child.ts";
import { rawEnd } from "../test/raw-end.ts";
import { NdjsonTransport, Peer } from "./index.ts";
import { childPeer, streamEnd, stalledOutput, duplexPair } from "../test/streams.ts";

const KB = 1024;

const MB = KB * KB;

afterEach(() => {
  vi.useRealTimers();
});

describe("limits", () => {
  it("close the connection for a line above messageBytes, after delivering earlier lines", async () => {
    const { input, output, end } = streamEnd({ messageBytes: 20 });
    input.write(`{"id":1}\n{"id":"${"x".repeat(30)}"}\n{"id":2}\n`);
    expect(await end.closed).toMatchObject({ code: "message_too_large" });
    expect(end.unread).toEqual([{ id: 1 }]);
    expect(output.writableEnded).toBe(true);
    expect(() => end.send({})).toThrow(expect.objectContaining({ code: "closed" }));
  });

  it("close the connection for a line that never ends", async () => {
    const { input, end } = streamEnd({ messageBytes: 1 * MB });
    const chunk = Buffer.alloc(64 * KB, "x");
    for (let i = 0; i <= 16; i++) input.write(chunk);
    expect(await end.closed).toMatchObject({ code: "message_too_large" });
  });

  it("reject pending calls with the oversized line as the cause", async () => {
    await using child = nodeChild(lineScript('({ id }) => say({ id, result: "x".repeat(5000) })'));
    await using peer = childPeer(child, { messageBytes: 1000 });
    const error = await errorOf(peer.request("big"));
    expect(error).toMatchObject({ code: "closed", cause: { code: "message_too_large" } });
    expect(await child.exited).toBe(0);
  });

  it("reject a call that is too large before anything is written", async () => {
    await using child = nodeChild(lineScript("({ id, method }) => say({ id, result: method })"));
    await using peer = childPeer(child, { messageBytes: 1000 });
    expect((await errorOf(peer.request("big", "x".repeat(1000)))).code).toBe("message_too_large");
    expect(await peer.request("small")).toBe("small");
  });

  it("reject sends beyond bufferedBytes for a stalled reader", async () => {
    const { output, written, resume } = stalledOutput();
    const transport = new NdjsonTransport({
      input: new PassThrough(),
      output,
      limits: { bufferedBytes: 100 },
    });
    rawEnd(transport);
    const message = JSON.stringify("x".repeat(58));
    expect(transport.send(message)).toBeUndefined();
    expect(transport.send(message)).toBeUndefined();
    expect(() => transport.send(message)).toThrow(
      "The other side is not reading: 122 bytes are buffered, the limit is 100 (bufferedBytes).",
    );
    await nextTurn();
    expect(() => transport.send(message)).toThrow(expect.objectContaining({ code: "queue_full" }));
    resume();
    await nextTurn();
    void transport.send(message);
    await transport.close();
    expect(written.join("")).toBe(`${message}\n`.repeat(3));
  });
});

describe("backpressure", () => {
  it("makes the sender wait until the output has drained", async () => {
    const { output, resume } = stalledOutput();
    const transport = new NdjsonTransport({ input: new PassThrough(), output });
    rawEnd(transport);
    expect(transport.send('{"id":"more than the high-water mark"}')).toBeUndefined();
    await nextTurn();
    const first = transport.send("{}");
    const second = transport.send("{}");
    expect(first).toBeInstanceOf(Promise);
    expect(second).toBe(first);
    resume();
    await first;
    await nextTurn();
    expect(transport.send("{}")).toBeUndefined();
    await transport.close();
  });

  it.each<[string, (transport: NdjsonTransport, output: Writable, input: PassThrough) => unknown]>([
    ["is closed", (transport) => transport.close()],
    ["fails to write", (_transport, output) => output.destroy(new Error("EPIPE"))],
    ["loses its output", (_transport, output) => output.destroy()],
    ["loses its input", (_transport, _output, input) => input.end()],
  ])("releases a waiting sender when the connection %s", async (_name, stop) => {
    const { output } = stalledOutput();
    const input = new PassThrough();
    const transport = new NdjsonTransport({ input, output, limits: { closeTimeoutMs: 5 } });
    rawEnd(transport);
    void transport.send('{"id":"more than the high-water mark"}');
    await nextTurn();
    const waits = transport.send("{}");
    expect(waits).toBeInstanceOf(Promise);
    await Promise.all([waits, stop(transport, output, input)]);
  });

  it("pauses the queue of a peer until the child reads again, and every call is answered", async () => {
    await using child = nodeChild(`
      process.once("SIGUSR2", () => {
        let text = "";
        process.stdin.on("data", (chunk) => {
          text += chunk;
          const lines = text.split("\\n");
          text = lines.pop();
          for (const line of lines) process.stdout.write(JSON.stringify({ id: JSON.parse(line).id, result: 1 }) + "\\n");
        });
      });
      setInterval(() => {}, 1e6);
      process.stdout.write('{"method":"ready"}\\n');
    `);
    await using peer = childPeer(child, { inFlight: 1000 });
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    peer.on("ready", () => resolve());
    await ready;
    const params = "x".repeat(64 * KB);
    const calls: Promise<unknown>[] = [];
    // Until the pipe stays full: one delayed call may only mean that a write is in progress.
    while (peer.counts.queued < 20) {
      calls.push(peer.request("m", params));
      await nextTurn();
    }
    expect(peer.counts.inFlight).toBe(calls.length - 20);
    child.process.kill("SIGUSR2");
    expect(await Promise.all(calls)).toEqual(calls.map(() => 1));
  });
});

describe("close", () => {
  it("sends buffered messages, ends the output, then resolves", async () => {
    const { output, written, resume } = stalledOutput();
    const transport = new NdjsonTransport({ input: new PassThrough(), output });
    const end = rawEnd(transport);
    end.send({ id: 1 });
    const closing = transport.close();
    expect(end.closedCalls).toBe(1);
    expect(output.writableFinished).toBe(false);
    resume();
    await closing;
    expect(output.writableFinished).toBe(true);
    expect(written).toEqual(['{"id":1}\n']);
  });

  it("drops a stalled reader after closeTimeoutMs, even if its stream never reports its close", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    for (const emitClose of [true, false]) {
      const input = new PassThrough();
      const output = new Writable({ write: () => {}, emitClose });
      const transport = new NdjsonTransport({ input, output, limits: { closeTimeoutMs: 1000 } });
      const end = rawEnd(transport);
      end.send({ id: 1 });
      const closing = Promise.all([transport.close(), transport.close()]);
      vi.advanceTimersByTime(1000);
      await closing;
      expect(output.destroyed).toBe(true);
      expect(input.destroyed).toBe(true);
      expect(end.closedCalls).toBe(1);
    }
  });

  it.each<[string, (output: PassThrough) => void]>([
    ["destroyed", (output) => output.destroy()],
    ["failed", (output) => output.destroy(new Error("EPIPE"))],
    ["ended", (output) => output.end()],
  ])("resolves if the output was already %s", async (_name, stop) => {
    for (const settle of [nextTurn, () => Promise.resolve()]) {
      const { output, transport, end } = streamEnd();
      stop(output);
      await settle();
      await transport.close();
      await transport.close();
      expect(end.closedCalls).toBe(1);
    }
  });

  it("reads and discards late input, so that the other side can end", async () => {
    await using child = nodeChild(`
      process.stdout.write('{"method":"ready"}\\n');
      process.stdin.resume().on("end", () => process.stdout.write("x".repeat(4 * 1024 * 1024), () => process.exit(7)));
    `);
    const peer = childPeer(child);
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    peer.on("ready", () => resolve());
    await ready;
    await peer.close();
    expect(await child.exited).toBe(7);
  });

  it("does not keep a socket open that the other side never ends", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "rpc-"));
    const path = join(folder.path, "socket");
    const server = createServer({ allowHalfOpen: true }).listen(path);
    await once(server, "listening");
    const socket = connect(path);
    const [accepted] = (await once(server, "connection")) as [Socket];
    accepted.on("error", () => {});
    accepted.resume();
    const peer = new Peer(
      new NdjsonTransport({ input: socket, output: socket, limits: { closeTimeoutMs: 5 } }),
    );
    await peer.close();
    if (!socket.closed) await once(socket, "close");
    accepted.destroy();
    server.close();
    await once(server, "close");
  });

  it("leaves no timer behind when both streams are closed", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const [left, right] = duplexPair();
    const transport = new NdjsonTransport({ input: left, output: left });
    const end = rawEnd(transport);
    right.resume();
    right.end();
    await Promise.all([once(left, "close"), transport.close()]);
    expect(end.closedCalls).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
