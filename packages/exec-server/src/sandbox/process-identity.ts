import { readFileSync, readlinkSync } from "node:fs";

/** The field of `/proc/PID/stat` with the start time, counted behind the command's closing parenthesis. */
const START_FIELD = 19;

/** Returns an identifier of this process that combines PID and start time, because PIDs are reused. */
export function ownIdentity(): string {
  return `${pidNamespace()}.${process.pid}.${startTime(process.pid) ?? 0}`;
}

/**
 * Whether the identified process is running. A process in another PID namespace can't be seen and is assumed
 * to be running.
 */
export function isRunning(identity: string): boolean {
  const [namespace, pid, started] = identity.split(".");
  if (namespace !== pidNamespace()) return true;
  return startTime(Number(pid)) === started;
}

function startTime(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .at(START_FIELD);
  } catch {
    return undefined;
  }
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0";
  }
}
