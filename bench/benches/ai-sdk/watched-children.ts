import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";

import { EXIT_TIMEOUT_MS } from "../turns/exit-timeout.ts";

/**
 * Tracks the child processes that are started from now on. A peer signals its codex without waiting for it,
 * so codex could still write to a home that is being removed and take time from the next contestant.
 * Disposing waits until all children have exited.
 */
export function watchChildren(): AsyncDisposable {
  const children = new Set<ChildProcess>();
  const onSpawn = (message: unknown): void => {
    children.add((message as { readonly process: ChildProcess }).process);
  };
  subscribe("child_process", onSpawn);
  return {
    async [Symbol.asyncDispose]() {
      unsubscribe("child_process", onSpawn);
      await Promise.all(Array.from(children, waitForExit));
    },
  };
}

async function waitForExit(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  const limit = setTimeout(() => child.kill("SIGKILL"), EXIT_TIMEOUT_MS);
  await exited;
  clearTimeout(limit);
}
