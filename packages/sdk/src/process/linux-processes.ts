import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { carriesMark } from "./owner-mark.ts";
import type { ProcessEntry, ProcessTable } from "./process-table.ts";

/** Linux tells all through /proc, in microseconds and without a child process. */
export const linuxProcesses: ProcessTable = {
  all: () =>
    readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : [])),

  one: readProcess,

  marked(mark, among) {
    return among.filter(({ pid }) => {
      // Unreadable for processes of other users: those are not ours.
      const environment = read(`/proc/${pid}/environ`);
      return environment !== undefined && carriesMark(environment.split("\0"), mark);
    });
  },

  /** Pids mean something inside their namespace only: containers may share a temp folder. */
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

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(stat, bootId());
}

/** One line of /proc/PID/stat; nothing for a zombie, which runs no more and only waits for its parent. */
export function parseStat(stat: string, bootName: string): ProcessEntry | undefined {
  // The second field is the program's name in parentheses, with anything in it: count from the last one.
  const rest = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = rest;
  // Field 22, in clock ticks since the boot. It counts from 1 and `rest` begins at field 3.
  const ticks = rest[19];
  if (state === undefined || ticks === undefined || state === "Z" || state === "X") return undefined;
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: `${bootName} ${ticks}`,
    startOrder: Number(ticks),
  };
}

let boot: string | undefined;

/** Ticks since the boot say nothing without the boot. It outlives this process, so it is read once. */
function bootId(): string {
  return (boot ??= read("/proc/sys/kernel/random/boot_id")?.trim() ?? "");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // Gone meanwhile, or not ours to read.
  }
}
