import { execFileSync } from "node:child_process";
import { hasMark } from "./owner-mark.ts";
import type { ProcessEntry, ProcessTable } from "./process-table.ts";

/** Timeout of `ps`, which usually takes less than 20 ms. */
const PS_LIMIT_MS = 2_000;

/** Runs `ps` on macOS and BSD. Sessions are not available, and the environment of Apple's own programs is hidden. */
export const psProcesses: ProcessTable = {
  all: () => parsePs(ps("-axo", COLUMNS)),
  since: () => psProcesses.all(),
  one: (pid) => parsePs(ps("-o", COLUMNS, "-p", String(pid)))[0],
  marked(mark, among) {
    const marked = new Set(
      ps("-axwwE", "-o", "pid=,command=")
        .split("\n")
        .filter((line) => hasMark(line.split(" "), mark))
        .map((line) => Number.parseInt(line, 10)),
    );
    return among.filter(({ pid }) => marked.has(pid));
  },
  namespace: () => "",
  forks: () => undefined,
};

const COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=";

/** Parses `ps -o pid=,ppid=,pgid=,stat=,lstart=`, without zombies. */
export function parsePs(text: string): ProcessEntry[] {
  return text.split("\n").flatMap((line) => {
    const [pid, parent, group, state, ...started] = line.trim().split(/\s+/);
    const start = started.join(" ");
    if (state === undefined || start === "" || state.startsWith("Z")) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: undefined,
        start,
        startOrder: Date.parse(`${start} UTC`),
      },
    ];
  });
}

function ps(...args: string[]): string {
  try {
    return execFileSync("ps", args, {
      encoding: "utf8",
      timeout: PS_LIMIT_MS,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
      // Fixed locale and time zone, because start times are compared as text.
      env: { PATH: process.env["PATH"] ?? "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" },
    });
  } catch {
    return ""; // No such process, or no `ps`.
  }
}
