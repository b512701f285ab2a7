import { percentile } from "../../statistics.ts";
import { startChild } from "./child.ts";
import type { Connection, Contender } from "./contender.ts";

/**
 * Number of calls before the clock starts, because the responder is a new process whose code has to be
 * compiled first.
 */
const UNTIMED_CALLS = 1000;

const METHOD = "thread/read";
const PARAMS = { threadId: "0199b3c2-7f7e-7c41-9c1b-2d6a4f0e8a11", includeTurns: false };

export interface Load {
  readonly calls: number;
  readonly inFlight: number;
}

/** A type, not an interface, because a sample must be assignable to a record of measures. */
type Answered = { readonly throughput: number; readonly p99: number };

/** Calls a responder over a pair of pipes, with `inFlight` calls at any time. p99 refers to a single call. */
export async function roundTrips(contender: Contender, load: Load, signal: AbortSignal): Promise<Answered> {
  await using child = await startChild("responder.ts", [contender.framing], signal);
  await using connection = contender.open(child, new Map());
  await Promise.race([callAll(connection, { ...load, calls: UNTIMED_CALLS }), child.died]);
  const began = performance.now();
  const latencies = await Promise.race([callAll(connection, load), child.died]);
  const seconds = (performance.now() - began) / 1000;
  return { throughput: latencies.length / seconds, p99: percentile(latencies, 0.99) };
}

async function callAll(connection: Connection, { calls, inFlight }: Load): Promise<number[]> {
  const latencies: number[] = [];
  let started = 0;
  const caller = async (): Promise<void> => {
    while (started < calls) {
      started += 1;
      const began = performance.now();
      await connection.call(METHOD, PARAMS);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return latencies;
}
