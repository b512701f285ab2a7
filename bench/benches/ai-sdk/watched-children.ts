import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";

import { LEAVE_MS } from "../turns/leave-ms.ts";

/**
 * The children that are started from now on. A peer signals its codex and does not wait: it would still write into a home
 * that is being removed, and be in the time of the next contestant. When this is disposed of, they are gone.
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
      await Promise.all(Array.from(children, gone));
    },
  };
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  const limit = setTimeout(() => child.kill("SIGKILL"), LEAVE_MS);
  await exited;
  clearTimeout(limit);
}
