// A vitest global setup: stores, installed packages and the compile cache of tests are in memory. On a disk, creating and
// removing their many small files takes longer than most tests, and delays all others. If there is no such folder, or it has too
// little space, they are on the disk.
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

/** The folder of the compile cache, to which processes may write until their end. */
export const COMPILE_CACHE = "compile";

const VARIABLE = "CODEXKIT_TEST_MEMORY";
const MEMORY = "/dev/shm";
/** More than all test files that run concurrently need. */
const SPACE_BYTES = 4 * 1024 ** 3;

export function memoryFolder(): string | undefined {
  return process.env[VARIABLE];
}

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bavail * bsize < SPACE_BYTES) return undefined;
  await removeFoldersOfKilledRuns();
  const folder = await mkdtemp(join(MEMORY, `codexkit-tests-${process.pid}-`));
  // Postgres refuses to run as root, so its user must be able to enter the folder.
  await chmod(folder, 0o711);
  process.env[VARIABLE] = folder;
  return async () => {
    const left = (await readdir(folder)).filter((name) => name !== COMPILE_CACHE);
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    if (left.length > 0) throw new Error(`The tests left something in memory: ${left.join(", ")}`);
  };
}

/** A run that is killed leaves its folder, which would use memory until the machine restarts. */
async function removeFoldersOfKilledRuns(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const [, pid] = /^codexkit-tests-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(join("/proc", pid)))
      await rm(join(MEMORY, name), { recursive: true, force: true, maxRetries: 10 });
  }
}
