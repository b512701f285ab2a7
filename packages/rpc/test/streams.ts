import { Duplex, PassThrough, type Readable, Writable } from "node:stream";
import type { NodeChild } from "./node-child.ts";
import { rawEnd } from "./raw-end.ts";
import { NdjsonTransport, Peer, type RpcLimits } from "../src/index.ts";

export function childPeer(child: NodeChild, limits: Partial<RpcLimits> = {}): Peer {
  const { stdin, stdout } = child.process;
  return new Peer(new NdjsonTransport({ input: stdout, output: stdin, limits }), { limits });
}

export function streamEnd(limits: Partial<RpcLimits> = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new NdjsonTransport({ input, output, limits });
  return { input, output, transport, end: rawEnd(transport) };
}

/** An output whose writes wait until the test releases them. */
export function stalledOutput(): { output: Writable; written: string[]; resume: () => void } {
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

/** Unlike `once`, does not reject on an earlier error. */
export function closed(stream: Readable | Writable): Promise<void> {
  return new Promise((resolve) => stream.once("close", resolve));
}

/** Two ends of a byte stream in memory. Ending one side ends the input of the other. */
export function duplexPair(): [Duplex, Duplex] {
  const there = new PassThrough();
  const back = new PassThrough();
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })];
}
