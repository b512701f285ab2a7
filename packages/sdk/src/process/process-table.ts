import { linuxProcesses } from "./linux-processes.ts";
import { psProcesses } from "./ps-processes.ts";

/** A process that runs. `pid` alone is not an identity, because pids are used again; `pid` with `start` is. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Where the system tells. */
  readonly session: number | undefined;
  /** When it started, in the system's own words: only good for comparing. */
  readonly start: string;
  /** The same as a number that grows. */
  readonly startOrder: number;
}

/** What this system tells about processes. Nothing here throws: what can't be known is absent. */
export interface ProcessTable {
  all(): ProcessEntry[];
  one(pid: number): ProcessEntry | undefined;
  /** Those whose environment, as it was when their program started, carries an owner's mark. */
  marked(mark: string, among: readonly ProcessEntry[]): ProcessEntry[];
  /** Names the world in which pids mean what they mean here. */
  namespace(): string;
  /** How many processes and threads were made since the boot, and how many pids there are to give. */
  forks(): { readonly made: number; readonly pids: number } | undefined;
}

/** Windows tells nothing that is cheap and sure: there an orphan is left to itself. */
const blind: ProcessTable = {
  all: () => [],
  one: () => undefined,
  marked: () => [],
  namespace: () => "",
  forks: () => undefined,
};

/** The processes of this machine. */
export function processTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  if (platform === "linux" || platform === "android") return linuxProcesses;
  return platform === "win32" ? blind : psProcesses;
}

/** Whether a process with this pid is there at all, whoever it is. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
