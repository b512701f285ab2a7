import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const WAIT_MS = 20_000;
const POLL_MS = 25;

let sleeps = 0;

/** A command that waits for a day, and that no other process of the machine has: several test runs may share it. */
export function uniqueSleep(): string {
  sleeps += 1;
  return `sleep 86400.${process.pid}0${sleeps}0`;
}

/** Process IDs whose command line has a text. */
async function findProcesses(text: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return line.replaceAll("\0", " ").includes(text) && Number(pid) !== process.pid ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** Waits until a process with this text runs, or until none does. Only the process table shows either. */
export async function waitForProcesses(text: string, expected: "some" | "none"): Promise<void> {
  const until = Date.now() + WAIT_MS;
  let pids = await findProcesses(text);
  while (pids.length > 0 !== (expected === "some")) {
    if (Date.now() > until)
      throw new Error(`Expected ${expected} process with ${text}, got ${pids.join(", ")}.`);
    await delay(POLL_MS);
    pids = await findProcesses(text);
  }
}
