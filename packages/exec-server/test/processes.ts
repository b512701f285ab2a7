import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** Whether a process exists and is not a zombie. */
export async function lives(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

/** Resolves when none of these processes is left. */
export async function gone(pids: readonly number[]): Promise<void> {
  const until = Date.now() + 10_000;
  for (;;) {
    const left = (await Promise.all(pids.map(lives))).filter(Boolean).length;
    if (left === 0) return;
    if (Date.now() > until) throw new Error(`${left} of ${pids.length} processes are still running`);
    await delay(20);
  }
}
