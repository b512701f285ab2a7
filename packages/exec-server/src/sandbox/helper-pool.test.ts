import { expect, test } from "vitest";
import { EXEC_LIMITS, SERVER_LIMITS } from "../limits.ts";
import { HelperPool } from "./helper-pool.ts";
import type { SandboxedFiles } from "./sandboxed-files.ts";

interface Starting {
  readonly name: string;
  readonly started: () => void;
}

/** A pool of helpers without processes, which start when the test says so. */
function slowPool(): {
  pool: HelperPool;
  starting: Starting[];
  lease: (name: string) => Promise<Disposable>;
} {
  const pool = new HelperPool(SERVER_LIMITS);
  const starting: Starting[] = [];
  const start = (name: string): SandboxedFiles => {
    const { promise, resolve } = Promise.withResolvers<void>();
    starting.push({ name, started: resolve });
    const files = {
      isBusy: false,
      hasExited: false,
      started: promise,
      [Symbol.asyncDispose]: async () => {},
    };
    return files as unknown as SandboxedFiles;
  };
  return { pool, starting, lease: (name) => pool.lease(name, () => start(name)) };
}

const names = Array.from(
  { length: EXEC_LIMITS.startingSandboxHelpers + 2 },
  (_, index) => `workspace ${index}`,
);

test("only a few helpers start at once, and the next one when one of them has started", async () => {
  const { pool, starting, lease } = slowPool();
  const leases = names.map(lease);
  await Promise.all(leases.slice(0, EXEC_LIMITS.startingSandboxHelpers));
  expect(starting.map(({ name }) => name)).toEqual(names.slice(0, EXEC_LIMITS.startingSandboxHelpers));
  for (const expected of [names.length - 1, names.length]) {
    starting[expected - names.length + 1]?.started();
    await leases[expected - 1];
    expect(starting.length).toBe(expected);
  }
  await pool[Symbol.asyncDispose]();
});

test("requests that wait for a start are refused when the server closes", async () => {
  const { pool, starting, lease } = slowPool();
  const leases = names.map(lease);
  const late = leases.slice(EXEC_LIMITS.startingSandboxHelpers);
  const outcomes = Promise.allSettled(late);
  await Promise.all(leases.slice(0, EXEC_LIMITS.startingSandboxHelpers));
  await pool[Symbol.asyncDispose]();
  expect((await outcomes).map(({ status }) => status)).toEqual(late.map(() => "rejected"));
  expect(starting.length).toBe(EXEC_LIMITS.startingSandboxHelpers);
});
