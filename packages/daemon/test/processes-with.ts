import { readdir, readFile } from "node:fs/promises";

/** IDs of the processes that were started with a variable in their environment, with all their descendants. Linux only. */
export async function processesWith(variable: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const matches = await Promise.all(
    pids.map(async (pid) => {
      // The file of a zombie is empty.
      const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
      return environment.split("\0").includes(variable) ? [pid] : [];
    }),
  );
  return matches.flat();
}
