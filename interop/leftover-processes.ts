import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** A killed process stays in the process table for a moment. One that stays longer was left behind. */
const ATTEMPTS = 20;
const ATTEMPT_MS = 100;

/** Command lines of the processes whose environment has one of these marks. Empty where there is no `/proc`. */
export async function leftoverProcesses(marks: readonly string[]): Promise<readonly string[]> {
  let found: readonly MarkedProcess[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    found = await processesOf(marks);
    if (found.length === 0) break;
    await delay(ATTEMPT_MS);
  }
  return found.map(({ command }) => command);
}

/** Kills the processes whose environment has one of these marks, including those that left their process group. */
export async function killMarked(marks: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const found = await processesOf(marks);
    if (found.length === 0) return;
    for (const { pid } of found) killIfRunning(pid);
    await delay(ATTEMPT_MS);
  }
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

interface MarkedProcess {
  readonly pid: number;
  readonly command: string;
}

async function processesOf(marks: readonly string[]): Promise<readonly MarkedProcess[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process may exit before it is read, and other users' processes can't be read.
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (!marks.some((mark) => environment.includes(mark))) return [];
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return [{ pid: Number(pid), command: line.replaceAll("\0", " ").trim() }];
    }),
  );
  // A zombie has no command line.
  return found.flat().filter(({ command }) => command !== "");
}
