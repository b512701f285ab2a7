import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** A process that was killed is in the table for a moment; one that stays longer was left behind. */
const ATTEMPTS = 20;
const ATTEMPT_MS = 100;

/** The processes whose environment has one of these marks. Empty where there is no `/proc`. */
export async function leftoverProcesses(marks: readonly string[]): Promise<readonly string[]> {
  let found: readonly string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    found = await processesOf(marks);
    if (found.length === 0) break;
    await delay(ATTEMPT_MS);
  }
  return found;
}

async function processesOf(marks: readonly string[]): Promise<readonly string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map(async (pid) => {
      // A process may end while it is read, and those of other users can't be read.
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (!marks.some((mark) => environment.includes(mark))) return [];
      return [(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ").trim()];
    }),
  );
  return commands.flat().filter((command) => command !== "");
}
