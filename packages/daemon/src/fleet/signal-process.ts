import { readFileSync } from "node:fs";

/** Identifies a process even if its ID is reused later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in ticks of the system. Undefined if the system does not report it. */
  readonly startedAt: string | undefined;
}

/** Undefined if there is no such process. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  if (stat !== undefined) return { pid, startedAt: stat };
  return process.platform !== "linux" && sendSignal(pid, 0) ? { pid, startedAt: undefined } : undefined;
}

/** Sends a signal, unless the process has ended. */
export function signalProcess({ pid, startedAt }: ProcessIdentity, signal: NodeJS.Signals): void {
  if (isRunning({ pid, startedAt })) sendSignal(pid, signal);
}

export function isRunning({ pid, startedAt }: ProcessIdentity): boolean {
  return startedAt === undefined ? sendSignal(pid, 0) : readStat(pid) === startedAt;
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // The process has ended.
    return false;
  }
}

/** Reads the start time, which is field 22 of `/proc/<pid>/stat` on Linux. */
function readStat(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, which can itself contain parentheses and spaces.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
