// Every limit of a server's sandboxes is honoured: each key has a test that would fail if it were ignored.
import { describe, expect, test, vi } from "vitest";
import type { LimitChecks, SandboxLimit } from "../test/limit-checks.ts";
import { deny, sandboxFixture } from "../test/sandbox-fixture.ts";
import { SERVER_LIMITS, type ServerLimits } from "./limits.ts";
import { HelperPool } from "./sandbox/helper-pool.ts";
import type { SandboxedFiles } from "./sandbox/sandboxed-files.ts";

const checks: LimitChecks<SandboxLimit> = {
  sandboxHelpers: async () => {
    await using it = helperPool({ sandboxHelpers: 1 });
    for (const workspace of ["one", "two"]) (await it.lease(workspace))[Symbol.dispose]();
    expect(it.stopped).toEqual(["one"]);
  },
  sandboxHelperIdleTimeoutMs: () =>
    withFakeTimers(async () => {
      await using it = helperPool({ sandboxHelperIdleTimeoutMs: 1_000 });
      (await it.lease("one"))[Symbol.dispose]();
      vi.advanceTimersByTime(999);
      expect(it.stopped).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(it.stopped).toEqual(["one"]);
    }),
  busySandboxHelpers: async () => {
    await using it = await sandboxFixture("ours", {
      limits: { busySandboxHelpers: 1, sandboxHelperWaitTimeoutMs: 10 },
    });
    await it.put("ws/file");
    await it.put("other/file");
    const sandbox = it.workspaceWrite();
    // An open file keeps its helper busy.
    await it.client.request("fs/open", {
      handleId: "held",
      path: it.uri("ws/file"),
      mode: "replace",
      sandbox,
    });
    const rival = it.client.files.write(it.at("other/file"), "x", {
      sandbox: it.workspaceWrite([it.path("other", "write")]),
    });
    await expect(rival).rejects.toThrow("All 1 sandbox helpers");
  },
  sandboxHelperWaitTimeoutMs: () =>
    withFakeTimers(async () => {
      await using it = helperPool({ busySandboxHelpers: 1, sandboxHelperWaitTimeoutMs: 1_000 });
      using _held = await it.lease("one");
      const refused = it.lease("two").catch((error: unknown) => error);
      await vi.advanceTimersByTimeAsync(1_001);
      expect(await refused).toMatchObject({ rpcCode: -32603 });
    }),
  sandboxHelperCallTimeoutMs: async () => {
    await using it = await sandboxFixture("ours", { limits: { sandboxHelperCallTimeoutMs: 1 } });
    const written = it.client.files.write(it.at("ws/file"), "x", { sandbox: it.workspaceWrite() });
    await expect(written).rejects.toThrow("helper exited");
  },
  denyScanEntries: () => expectScanRefused({ denyScanEntries: 2 }, "More than 2 files would"),
  denyScanTimeoutMs: () => expectScanRefused({ denyScanTimeoutMs: 0 }, "took longer than 0 ms"),
  deniedMatches: () => expectScanRefused({ deniedMatches: 2 }, "More than 2 files below"),
};

/** Three files that a pattern denies are more than the limits allow. */
async function expectScanRefused(limits: Partial<ServerLimits>, message: string): Promise<void> {
  await using it = await sandboxFixture("ours", { limits });
  for (const name of ["a", "b", "c"]) await it.put(`ws/${name}.env`);
  const { output } = await it.run("echo ran", it.workspaceWrite([deny("**/*.env")]));
  expect(output).toContain(message);
}

async function withFakeTimers(check: () => Promise<void>): Promise<void> {
  vi.useFakeTimers();
  try {
    await check();
  } finally {
    vi.useRealTimers();
  }
}

/** A pool of helpers without processes, which are always idle, and the names of those that were stopped. */
function helperPool(limits: Partial<ServerLimits>) {
  const pool = new HelperPool({ ...SERVER_LIMITS, ...limits });
  const stopped: string[] = [];
  const helper = (name: string): SandboxedFiles =>
    ({
      isBusy: false,
      hasExited: false,
      started: Promise.resolve(),
      [Symbol.asyncDispose]: () => {
        stopped.push(name);
        return Promise.resolve();
      },
    }) as unknown as SandboxedFiles;
  return {
    stopped,
    lease: (workspace: string) => pool.lease(workspace, () => helper(workspace)),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

describe("the sandboxes of a server honour", () => {
  test.each(Object.entries(checks))("%s", (_, check) => check());
});
