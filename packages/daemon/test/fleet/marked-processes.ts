import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** The processes whose environment has a variable with this value: what a node has started, however far down. Linux only. */
export async function markedProcesses(variable: string, value: string): Promise<readonly number[]> {
  const entry = Buffer.from(`${variable}=${value}\0`);
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const marked = await Promise.all(
    pids.map(async (pid) => {
      try {
        if (!(await readFile(`/proc/${pid}/environ`)).includes(entry)) return [];
        // A process that has ended has no environment, but is listed until its parent has asked for its status.
        return [pid];
      } catch {
        return [];
      }
    }),
  );
  return marked.flat();
}

/** Ends all of them as the end of their machine does: none gets to clean up after another one. */
export async function killMarked(variable: string, value: string): Promise<void> {
  for (;;) {
    const pids = await markedProcesses(variable, value);
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
