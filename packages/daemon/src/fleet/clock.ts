import { uptime } from "node:os";

/** Milliseconds of the machine's own clock, which can't be set, goes on during a suspend, and is the same for all processes. */
export function machineClock(): number {
  return uptime() * 1000;
}
