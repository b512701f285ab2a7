import { setTimeout as delay } from "node:timers/promises";
import { processesWith } from "../processes-with.ts";

/**
 * Kills all processes that were started with a variable in their environment, as the end of their machine does: they are stopped
 * first, so that none of them cleans up after another one.
 */
export async function killProcessesWith(variable: string): Promise<void> {
  for (;;) {
    const pids = await processesWith(variable);
    if (pids.length === 0) return;
    for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const pid of pids) sendSignal(pid, signal);
    await delay(5);
  }
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
