import { Readable, Writable } from "node:stream";

import { percentile } from "../../statistics.ts";
import { startChild } from "./child.ts";
import type { Contender, Streams } from "./contender.ts";
import { feedOf, type Feed } from "./feed.ts";
import { NOTIFICATION_METHODS } from "./messages.ts";

/**
 * About 24 MB: some hundred milliseconds for the floor, which is long compared with the start of a stream and
 * the first chunk.
 */
const FEED: Feed = { kind: "notifications", size: 100_000 };

/**
 * Single messages have no measurable latency here, because only the arrival of their chunk is known. Users
 * notice stalls, so p99 refers to the time for this many consecutive messages: 200 blocks per round.
 */
const BLOCK = 500;

/** A type, not an interface, because a sample must be assignable to a record of measures. */
type ReceiveSample = { readonly throughput: number; readonly "p99 of 500": number };

/** Receives from a child's stdout, as from an app-server. Reading the pipe is part of the work. */
export async function receiveFromPipe(contender: Contender, signal: AbortSignal): Promise<ReceiveSample> {
  await using child = await startChild(
    "feeder.ts",
    [contender.framing, FEED.kind, String(FEED.size)],
    signal,
  );
  return await Promise.race([receive(contender, child, () => child.output.write("go")), child.died]);
}

/**
 * Receives chunks from memory: no system calls and no second process, only the reader's own cost. One chunk
 * per turn of the event loop, as libuv delivers them: a peer that processes its queue between chunks could
 * not handle all of them at once.
 */
export async function receiveInProcess(contender: Contender): Promise<ReceiveSample> {
  const { chunks, times } = feedOf(FEED, contender.framing);
  const input = new Readable({ read() {} });
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  let sent = 0;
  const pushNext = (): void => {
    input.push(chunks[sent % chunks.length]);
    sent += 1;
    if (sent < chunks.length * times) setImmediate(pushNext);
  };
  return receive(contender, { input, output }, pushNext);
}

async function receive(contender: Contender, streams: Streams, begin: () => void): Promise<ReceiveSample> {
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  const blockEnds: number[] = [];
  let count = 0;
  const listener = (): void => {
    count += 1;
    if (count % BLOCK !== 0) return;
    blockEnds.push(performance.now());
    if (count === FEED.size) resolve();
  };
  await using stack = new AsyncDisposableStack();
  stack.use(contender.open(streams, new Map(NOTIFICATION_METHODS.map((method) => [method, listener]))));
  const began = performance.now();
  begin();
  await finished;
  const gaps = blockEnds.map((end, index) => end - (blockEnds[index - 1] ?? began));
  const seconds = ((blockEnds.at(-1) ?? Number.NaN) - began) / 1000;
  return { throughput: FEED.size / seconds, "p99 of 500": percentile(gaps, 0.99) };
}
