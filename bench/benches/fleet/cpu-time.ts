import { readdirSync, readFileSync } from "node:fs";

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10;

interface Process {
  readonly parent: number;
  readonly ms: number;
}

/** Milliseconds that processes and all of their descendants have computed, those that have ended included. */
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
    // The name is in brackets and may contain anything.
    const [, rest = ""] = /.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const [, parent = "0", ...fields] = rest.split(" ");
    // utime, stime, and those of ended children.
    const ticks = fields.slice(9, 13).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(parent), ms: ticks * TICK_MS };
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
