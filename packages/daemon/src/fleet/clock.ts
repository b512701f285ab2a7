import { uptime } from "node:os";

/**
 * Milliseconds since the machine was booted. This clock can't be set, keeps running while the machine is suspended, and returns
 * the same time in all processes.
 */
export function machineClock(): number {
  return uptime() * 1000;
}
