import { readdirSync, readFileSync } from "node:fs";

/** The kernel reports CPU time in hundredths of a second. */
const TICK_MS = 10;

interface Process {
  readonly parent: number;
  readonly ms: number;
}

/** CPU time of processes and all of their descendants, including ended ones, in milliseconds. */
export function cpuTime(roots: readonly number[]): number {
  const processes = new Map<number, Process>();
  for (const entry of readdirSync("/proc")) {
    const found = /^\d+$/.test(entry) ? readProcess(entry) : undefined;
    if (found) processes.set(Number(entry), found);
  }
  const isOurs = (pid: number): boolean => {
    for (let current = pid; current > 1; current = processes.get(current)?.parent ?? 0) {
      if (roots.includes(current)) return true;
    }
    return false;
  };
  return [...processes].reduce((sum, [pid, { ms }]) => (isOurs(pid) ? sum + ms : sum), 0);
}

/** The parent of a process. */
export function parentOf(pid: number): number {
  return readProcess(`${pid}`)?.parent ?? 0;
}

function readProcess(pid: string): Process | undefined {
  try {
    // The name is in parentheses and may contain any character.
    const [, rest = ""] = /.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const [, parent = "0", ...fields] = rest.split(" ");
    // utime and stime, of the process and of its ended children.
    const ticks = fields.slice(9, 13).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(parent), ms: ticks * TICK_MS };
  } catch {
    // The process has ended in the meantime.
    return undefined;
  }
}
