import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { lineScript, nodeChild } from "../test/node-child.ts";
import { rawEnd } from "../test/raw-end.ts";
import { NdjsonTransport, Peer } from "./index.ts";
import { childPeer, streamEnd, closed } from "../test/streams.ts";

const KB = 1024;

const MB = KB * KB;

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
    ["a call of end outside the transport", undefined, (output) => output.resume().end()],
  ])("by %s closes the connection after closeTimeoutMs at the latest", async (_name, cause, stop) => {
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

  it("make sends fail if the output is one of them, but the last messages are still delivered", async () => {
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
