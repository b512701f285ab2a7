// The connection loop of an executor, with a fake connector and clock.
import { expect, test } from "vitest";
import { RelayError } from "../errors.ts";
import { type ExecutorStatus, runExecutorLoop } from "./executor-loop.ts";

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Each step is the outcome of one attempt to connect: a connection that ends, or a failure. */
async function run(
  steps: readonly ("ends" | RelayError)[],
  registrations: readonly (RelayError | "ok")[] = [],
  hasSuspendedStreams = false,
) {
  const stopping = new AbortController();
  const log: string[] = [];
  const delays: number[] = [];
  const statuses: ExecutorStatus[] = [];
  let registered = 0;
  let attempt = 0;
  await runExecutorLoop({
    connector: {
      hasSuspendedStreams,
      register: () => {
        const outcome = registrations[registered] ?? "ok";
        registered += 1;
        log.push(`register ${registered}`);
        return outcome === "ok"
          ? Promise.resolve({ url: "ws://127.0.0.1", registrationId: `r${registered}` })
          : Promise.reject(outcome);
      },
      connect: ({ registrationId }) => {
        const step = steps[attempt];
        attempt += 1;
        log.push(`connect ${registrationId}`);
        if (step === undefined) stopping.abort();
        return step === "ends" || step === undefined
          ? Promise.resolve({ closed: Promise.resolve(undefined), close: () => Promise.resolve() })
          : Promise.reject(step);
      },
    },
    onStatus: (status) => void statuses.push(status),
    log: SILENT,
    signal: stopping.signal,
    sleep: (ms) => {
      delays.push(ms);
      return Promise.resolve();
    },
  });
  return { log, delays, statuses };
}

const unreachable = new RelayError("connect_failed", "unreachable");

test("reconnects after a lost connection with the same registration", async () => {
  const { log, statuses } = await run(["ends", "ends"]);
  expect(log).toEqual(["register 1", "connect r1", "connect r1", "connect r1"]);
  expect(statuses.map(({ state }) => state)).toEqual([
    "registered",
    "connected",
    "waiting",
    "connected",
    "waiting",
    "connected",
  ]);
});

test("delays double up to 30 s, with jitter, and are reset after a success", async () => {
  const { delays } = await run([...Array.from({ length: 8 }, () => unreachable), "ends"]);
  const ceilings = [1, 2, 4, 8, 16, 30, 30, 30, 1].map((seconds) => seconds * 1000);
  expect(delays.length).toBe(ceilings.length);
  for (const [index, ceiling] of ceilings.entries()) {
    expect(delays[index]).toBeGreaterThanOrEqual(ceiling / 2);
    expect(delays[index]).toBeLessThanOrEqual(ceiling);
  }
});

test("delays stay below 5 s while streams wait for a connection", async () => {
  const { delays } = await run(
    Array.from({ length: 6 }, () => unreachable),
    [],
    true,
  );
  const ceilings = [1, 2, 4, 5, 5, 5].map((seconds) => seconds * 1000);
  expect(delays.length).toBe(ceilings.length);
  for (const [index, ceiling] of ceilings.entries()) {
    expect(delays[index]).toBeGreaterThanOrEqual(ceiling / 2);
    expect(delays[index]).toBeLessThanOrEqual(ceiling);
  }
});

test("registers again if the URL is refused, and retries until that succeeds", async () => {
  const refused = new RelayError("refused", "404");
  const unauthorized = new RelayError("unauthorized", "401");
  const { log } = await run([refused, "ends"], ["ok", unreachable, unauthorized, "ok"]);
  expect(log).toEqual([
    "register 1",
    "connect r1",
    "register 2",
    "register 3",
    "register 4",
    "connect r4",
    "connect r4",
  ]);
});

test("rejects if the first registration fails", async () => {
  await expect(run([], [unreachable])).rejects.toBe(unreachable);
});
