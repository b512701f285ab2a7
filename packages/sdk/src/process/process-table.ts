import { linuxProcesses } from "./linux-processes.ts";
import { psProcesses } from "./ps-processes.ts";

/** A running process. Because pids are reused, only `pid` and `start` together identify it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Undefined if the system does not report it. */
  readonly session: number | undefined;
  /** Start time in a system-specific format, for comparison only. */
  readonly start: string;
  /** Start time as an increasing number. */
  readonly startOrder: number;
}

export interface SinceOptions {
  readonly unrelated?: ReadonlySet<number> | undefined;
  readonly onGone?: (() => void) | undefined;
}

/** The system's process information. No method throws; unavailable values are undefined. */
export interface ProcessTable {
  all(): ProcessEntry[];
  /**
   * Lists at least a process and those that were started after it. Reads only these if the system assigns pids in order and
   * has not used all of them since `forks` processes had been created; then it also skips the pids in `unrelated`. `onGone` is
   * called for each that ended before it was read.
   */
  since(pid: number, forks: number, options?: SinceOptions): ProcessEntry[];
  one(pid: number): ProcessEntry | undefined;
  /**
   * Returns the processes whose initial environment has an owner's mark. `onUnreadable` is called for each that may have it but
   * can't be read now.
   */
  marked(mark: string, among: readonly ProcessEntry[], onUnreadable?: (pid: number) => void): ProcessEntry[];
  /** Identifies the pid namespace. */
  namespace(): string;
  /** Number of processes and threads created since boot, and the number of available pids. */
  forks(): { readonly made: number; readonly pids: number } | undefined;
}

/** Windows has no cheap and reliable process information, so orphans are not swept there. */
const noProcesses: ProcessTable = {
  all: () => [],
  since: () => [],
  one: () => undefined,
  marked: () => [],
  namespace: () => "",
  forks: () => undefined,
};

/** Returns the process table of the platform. */
export function processTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  if (platform === "linux" || platform === "android") return linuxProcesses;
  return platform === "win32" ? noProcesses : psProcesses;
}

/** Whether any process has this pid. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
