import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hasMark } from "./owner-mark.ts";
import type { ProcessEntry, ProcessTable } from "./process-table.ts";

/** Reads /proc, which takes microseconds and no child process. */
export const linuxProcesses: ProcessTable = {
  all: () => listPids().flatMap((pid) => readProcess(pid) ?? []),

  since(first, forks, { unrelated, onGone } = {}) {
    const now = linuxProcesses.forks();
    // Comparing with half of the pids allows for forks that failed after they got a pid.
    const isInOrder = now !== undefined && now.made - forks < (now.pids - first) / 2;
    return listPids().flatMap((pid) => {
      if (isInOrder && (pid < first || unrelated?.has(pid))) return [];
      const stat = read(`/proc/${pid}/stat`);
      const entry = stat === undefined ? undefined : parseStat(stat, bootId());
      if (!entry && !(stat !== undefined && isKernelThread(stat))) onGone?.();
      return entry ?? [];
    });
  },

  one: readProcess,

  marked(mark, among, onUnreadable) {
    return among.filter(({ pid }) => {
      // Processes of other users are unreadable, and never owned.
      const environment = read(`/proc/${pid}/environ`);
      // During `exec` a process has no environment.
      if (environment === "") onUnreadable?.(pid);
      return environment !== undefined && hasMark(environment.split("\0"), mark);
    });
  },

  /** Pids are only valid inside their namespace, and containers can share a temp folder. */
  namespace() {
    try {
      return `${bootId()} ${readlinkSync("/proc/self/ns/pid")}`;
    } catch {
      return bootId();
    }
  },

  forks() {
    const made = Number(/^processes (?<made>\d+)$/m.exec(read("/proc/stat") ?? "")?.groups?.["made"]);
    const pids = Number(read("/proc/sys/kernel/pid_max"));
    return made > 0 && pids > 0 ? { made, pids } : undefined;
  },
};

function listPids(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
}

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(stat, bootId());
}

/**
 * Parses /proc/PID/stat. Returns undefined for a zombie, which has ended and only waits for its parent, and for a kernel thread,
 * which has no environment.
 */
export function parseStat(stat: string, bootName: string): ProcessEntry | undefined {
  const rest = fieldsOf(stat);
  const [state, parent, group, session] = rest;
  // Field 22 is the start in clock ticks since boot.
  const ticks = rest[19];
  if (state === undefined || ticks === undefined || state === "Z" || state === "X") return undefined;
  if (isKernelThread(stat)) return undefined;
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: `${bootName} ${ticks}`,
    startOrder: Number(ticks),
  };
}

/** Returns the fields of /proc/PID/stat from the third one on. */
function fieldsOf(stat: string): string[] {
  // The second field is the program's name in parentheses, which can itself contain parentheses and spaces.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** `PF_KTHREAD` of Linux. */
const KERNEL_THREAD = 0x20_00_00;

function isKernelThread(stat: string): boolean {
  return (Number(fieldsOf(stat)[6]) & KERNEL_THREAD) !== 0;
}

let boot: string | undefined;

/** Start ticks are only unique together with the boot id, which can't change while this process runs. */
function bootId(): string {
  return (boot ??= read("/proc/sys/kernel/random/boot_id")?.trim() ?? "");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // The process has exited, or belongs to another user.
  }
}
