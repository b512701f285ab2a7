import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex, PassThrough, Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { lineScript, nodeChild, type NodeChild } from "../test/node-child.ts";
import { rawEnd } from "../test/raw-end.ts";
import { NdjsonTransport, Peer, type RpcLimits } from "./index.ts";

const KB = 1024;
const MB = KB * KB;

function childPeer(child: NodeChild, limits: Partial<RpcLimits> = {}): Peer {
  const { stdin, stdout } = child.process;
  return new Peer(new NdjsonTransport({ input: stdout, output: stdin, limits }), { limits });
}

function streamEnd(limits: Partial<RpcLimits> = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new NdjsonTransport({ input, output, limits });
  return { input, output, transport, end: rawEnd(transport) };
}

/** An output whose writes wait until the test releases them. */
function stalledOutput(): { output: Writable; written: string[]; resume: () => void } {
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  let stalled = true;
  const output = new Writable({
    highWaterMark: 16,
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString());
      if (stalled) waiting.push(done);
      else done();
    },
  });
  return {
    output,
    written,
    resume: () => {
      stalled = false;
      for (const done of waiting.splice(0)) done();
    },
  };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("lines", () => {
  it("are not read while the transport is paused, and none is lost", async () => {
    const { input, transport, end } = streamEnd();
    transport.pause();
    input.write('{"id":1}\n{"id":2}\n');
    await nextTurn();
    expect(end.unread).toEqual([]);
    transport.resume();
    expect([await end.next(), await end.next()]).toEqual([{ id: 1 }, { id: 2 }]);
    transport.pause();
    await end.close();
    expect(input.isPaused()).toBe(false);
  });

  it("carry messages both ways, in any chunks, with either line ending", async () => {
    const { input, output, end } = streamEnd();
    input.write('{"id":1}\r\n{"id"');
    input.write(":2}\n\n");
    input.write(Buffer.from('{"id":"é"}\n').subarray(0, 8));
    input.write(Buffer.from('{"id":"é"}\n').subarray(8));
    expect([await end.next(), await end.next(), await end.next()]).toEqual([
      { id: 1 },
      { id: 2 },
      { id: "é" },
    ]);
    end.send({ id: 3 });
    end.send({ id: 4 });
    expect(String((await once(output, "data"))[0])).toBe('{"id":3}\n{"id":4}\n');
    await end.close();
  });

  it("may arrive as text from a stream with an encoding", async () => {
    const input = new PassThrough({ encoding: "utf8" });
    const transport = new NdjsonTransport({ input, output: new PassThrough() });
    const end = rawEnd(transport);
    const bytes = Buffer.from('{"id":"日本"}\n');
    for (const byte of bytes) input.write(Buffer.from([byte]));
    expect(await end.next()).toEqual({ id: "日本" });
    await end.close();
  });

  it("of one tick are sent in one write", async () => {
    const writes: string[] = [];
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        writes.push(chunk.toString());
        done();
      },
    });
    const transport = new NdjsonTransport({ input: new PassThrough(), output });
    const end = rawEnd(transport);
    for (let id = 0; id < 100; id++) end.send({ id });
    await nextTurn();
    expect(writes).toHaveLength(1);
    await end.close();
  });

  it("are not delivered before start returns", async () => {
    const { input, end } = (() => {
      const early = new PassThrough();
      early.write('{"id":1}\n');
      const transport = new NdjsonTransport({ input: early, output: new PassThrough() });
      return { input: early, end: rawEnd(transport) };
    })();
    expect(end.unread).toEqual([]);
    expect(await end.next()).toEqual({ id: 1 });
    input.destroy();
    await end.closed;
  });

  it("of 32 MB arrive complete", async () => {
    await using child = nodeChild(lineScript("({ id, params }) => say({ id, result: params })"));
    await using peer = childPeer(child);
    const text = "é".repeat(16 * MB);
    expect((await peer.request("echo", text)) === text).toBe(true);
  });
});

describe("the end of the input", () => {
  it("closes the connection cleanly", async () => {
    const { input, end } = streamEnd();
    input.end('{"id":1}\n');
    expect(await end.closed).toBeUndefined();
    expect(end.unread).toEqual([{ id: 1 }]);
    expect(end.closedCalls).toBe(1);
  });

  it("delivers the rest as a line", async () => {
    const { input, end } = streamEnd();
    input.end('{"id":1}\n{"id":2}');
    expect(await end.closed).toBeUndefined();
    expect(end.unread).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it("within a message is an anomaly, then closes the connection", async () => {
    const input = new PassThrough();
    const peer = new Peer(new NdjsonTransport({ input, output: new PassThrough() }));
    const anomalies: string[] = [];
    peer.onAnomaly(({ code }) => anomalies.push(code));
    const pending = errorOf(peer.request("m"));
    input.end('{"id":0,"resu');
    expect(await pending).toMatchObject({ code: "closed", message: "The other side closed the connection." });
    expect(anomalies).toEqual(["malformed"]);
  });

  it("by an error has the error as its cause", async () => {
    const { input, end } = streamEnd();
    const cause = new Error("read failed");
    input.destroy(cause);
    expect(await end.closed).toBe(cause);
    expect(end.closedCalls).toBe(1);
  });

  it("sends the messages queued just before it", async () => {
    const { input, output, end } = streamEnd();
    input.prependListener("end", () => end.send({ id: "last" }));
    input.end();
    await end.closed;
    expect(String(output.read())).toBe('{"id":"last"}\n');
  });
});

describe("the end of the output", () => {
  it("still delivers the last messages of the other side, however late they are read", async () => {
    const { input, output, end } = streamEnd();
    output.destroy();
    await closed(output);
    expect(() => end.send({})).toThrow(expect.objectContaining({ code: "closed" }));
    input.write('{"id":1}\n');
    input.end('{"id":2}\n');
    expect(await end.closed).toBeUndefined();
    expect(end.unread).toEqual([{ id: 1 }, { id: 2 }]);
    expect(end.closedCalls).toBe(1);
  });

  it.each<[string, Error | undefined, (output: PassThrough, cause: Error | undefined) => void]>([
    ["an error", new Error("EPIPE"), (output, cause) => output.destroy(cause)],
    ["a close", undefined, (output) => output.destroy()],
    ["an end that another made", undefined, (output) => output.resume().end()],
  ])("by %s is the end of the connection after closeTimeoutMs at the latest", async (_name, cause, stop) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { output, end } = streamEnd({ closeTimeoutMs: 1000 });
    stop(output, cause);
    await nextTurn();
    vi.advanceTimersByTime(999);
    expect(end.closedCalls).toBe(0);
    vi.advanceTimersByTime(1);
    expect(end.closedCalls).toBe(1);
    expect(await end.closed).toBe(cause);
  });
});

describe("streams that ended before the start", () => {
  it("close the connection immediately: the input ended", async () => {
    const input = Readable.from([]);
    input.resume();
    await closed(input);
    const end = rawEnd(new NdjsonTransport({ input, output: new PassThrough() }));
    expect(end.closedCalls).toBe(0);
    expect(await end.closed).toBeUndefined();
  });

  it("close the connection immediately: the input failed", async () => {
    const cause = new Error("failed before");
    const input = new PassThrough();
    input.on("error", () => {});
    input.destroy(cause);
    await closed(input);
    const end = rawEnd(new NdjsonTransport({ input, output: new PassThrough() }));
    expect(await end.closed).toBe(cause);
  });

  it("close the connection, which is reported after the start", async () => {
    const input = new PassThrough();
    const transport = new NdjsonTransport({ input, output: new PassThrough() });
    const cause = new Error("failed in between");
    input.destroy(cause);
    await closed(input);
    const end = rawEnd(transport);
    expect(end.closedCalls).toBe(0);
    expect(await end.closed).toBe(cause);
    expect(end.closedCalls).toBe(1);
  });

  it("reject sends if it is the output, and close the connection after the wait for last messages", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    output.on("error", () => {});
    const cause = new Error("gone before");
    output.destroy(cause);
    await closed(output);
    const transport = new NdjsonTransport({ input, output, limits: { closeTimeoutMs: 5 } });
    const end = rawEnd(transport);
    expect(() => end.send({})).toThrow(expect.objectContaining({ code: "closed", cause }));
    input.write('{"id":"last words"}\n');
    expect(await end.closed).toBe(cause);
    expect(end.unread).toEqual([{ id: "last words" }]);
  });

  it("may be those of a program that can't be started", async () => {
    const child = spawn("/nowhere/no-such-program", { stdio: ["pipe", "pipe", "inherit"] });
    const failed = once(child, "error");
    const peer = new Peer(new NdjsonTransport({ input: child.stdout, output: child.stdin }));
    expect((await errorOf(peer.request("m"))).code).toBe("closed");
    expect((await peer.closed).code).toBe("closed");
    await failed;
    await peer.close();
  });
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
    ["fails on the output", (_transport, output) => output.destroy(new Error("EPIPE"))],
    ["loses its output", (_transport, output) => output.destroy()],
    ["ends on the input", (_transport, _output, input) => input.end()],
  ])("lets a sender go that waits when the connection %s", async (_name, stop) => {
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
  ])("resolves when the output was %s before", async (_name, stop) => {
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

describe("a child", () => {
  it("answers calls and makes its own", async () => {
    await using child = nodeChild(
      lineScript(`(message) => {
        if (message.method === "ask") say({ id: "mine", method: "name" });
        else if (message.id === "mine") say({ method: "told", params: message.result });
      }`),
    );
    await using peer = childPeer(child);
    peer.handle("name", () => "parent");
    const { promise, resolve } = Promise.withResolvers<unknown>();
    peer.on("told", resolve);
    await peer.notify("ask");
    expect(await promise).toBe("parent");
  });

  it("that exits right after its last messages loses none of them", async () => {
    await using child = nodeChild(
      lineScript(`({ id }) => {
        for (let i = 0; i < 200; i++) say({ method: "line", params: "x".repeat(10_000) });
        process.stdout.write(JSON.stringify({ id, result: "answered" }) + "\\n", () => process.exit(3));
      }`),
    );
    await using peer = childPeer(child);
    let received = 0;
    // A slow listener: the child's exit is reported long before all of this is read.
    peer.on("line", () => {
      received += 1;
      for (let i = 0; i < 20_000; i++) JSON.stringify(i);
    });
    expect(await peer.request("last")).toBe("answered");
    expect(received).toBe(200);
    expect(await peer.closed).toMatchObject({
      code: "closed",
      message: "The other side closed the connection.",
    });
    expect(await child.exited).toBe(3);
  });

  it("that dies during a call rejects all pending calls with one error", async () => {
    await using child = nodeChild(lineScript("() => process.kill(process.pid, 'SIGKILL')"));
    await using peer = childPeer(child, { inFlight: 2 });
    const errors = await Promise.all(["a", "b", "c", "d"].map((method) => errorOf(peer.request(method))));
    expect(new Set(errors).size).toBe(1);
    expect(errors[0]).toBe(await peer.closed);
    expect(errors[0]?.code).toBe("closed");
    expect(await child.exited).toBeNull();
  });

  it("that closes its stdin but keeps running rejects every call, with EPIPE as the cause", async () => {
    await using child = nodeChild(`
      import { closeSync } from "node:fs";
      closeSync(0);
      process.stdout.write('{"method":"closed"}\\n');
      setInterval(() => {}, 1e6);
    `);
    await using peer = childPeer(child, { closeTimeoutMs: 20, inFlight: 1 });
    const { promise: closedStdin, resolve } = Promise.withResolvers<void>();
    peer.on("closed", () => resolve());
    await closedStdin;
    const errors = await Promise.all([errorOf(peer.request("a")), errorOf(peer.request("b"))]);
    expect(errors[0]).toMatchObject({ code: "closed", cause: { code: "EPIPE" } });
    expect(errors[1]).toBe(errors[0]);
    expect((await errorOf(peer.notify("c"))).code).toBe("closed");
  });

  it("may send a flood of malformed lines", async () => {
    await using child = nodeChild(
      lineScript(`({ id }) => {
        process.stdout.write("not json\\n".repeat(1000));
        say({ id, result: "fine" });
      }`),
    );
    await using peer = childPeer(child);
    let anomalies = 0;
    peer.onAnomaly(() => (anomalies += 1));
    expect(await peer.request("m")).toBe("fine");
    expect(anomalies).toBe(1000);
  });
});

describe("a socket", () => {
  it("connects two peers, and closing one closes both", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "rpc-"));
    const path = join(folder.path, "socket");
    const server = createServer().listen(path);
    await once(server, "listening");
    const near = connect(path);
    const [far] = (await once(server, "connection")) as [Socket];
    const a = new Peer(new NdjsonTransport({ input: near, output: near }));
    const b = new Peer(new NdjsonTransport({ input: far, output: far }));
    a.handle("who", () => "a");
    b.handle("who", () => "b");
    expect(await Promise.all([a.request("who"), b.request("who")])).toEqual(["b", "a"]);
    await a.close();
    expect((await b.closed).message).toBe("The other side closed the connection.");
    server.close();
    await once(server, "close");
  });

  it("that is reset rejects pending calls with the reset as the cause", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const near = connect((server.address() as { port: number }).port, "127.0.0.1");
    const [far] = (await once(server, "connection")) as [Socket];
    const peer = new Peer(new NdjsonTransport({ input: near, output: near }));
    const pending = errorOf(peer.request("m"));
    await once(far, "data");
    far.resetAndDestroy();
    expect(await pending).toMatchObject({ code: "closed", cause: { code: "ECONNRESET" } });
    server.close();
    await once(server, "close");
  });
});

/** Unlike `once`, does not reject on an earlier error. */
function closed(stream: Readable | Writable): Promise<void> {
  return new Promise((resolve) => stream.once("close", resolve));
}

/** Two ends of a byte stream in memory. Ending one side ends the input of the other. */
function duplexPair(): [Duplex, Duplex] {
  const there = new PassThrough();
  const back = new PassThrough();
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })];
}
