// A vitest global setup that gives the run its own temp folder and environment mark. Fails the run if the folder is not empty or
// a marked process is still running after the last test.
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Inherited by all descendants, except those that clear their environment. */
const MARK = "CODEXKIT_TEST_RUN";

/** The variables that `os.tmpdir()` reads. */
const TEMP_VARIABLES = process.platform === "win32" ? ["TEMP", "TMP"] : ["TMPDIR"];

/** How long the last children may take to exit. */
const GRACE_MS = 20_000;

interface LitterOptions {
  readonly graceMs?: number;
}

export default async function setup({ graceMs = GRACE_MS }: LitterOptions = {}): Promise<
  () => Promise<void>
> {
  const folder = await mkdtemp(join(tmpdir(), "codexkit-tests-"));
  // Postgres refuses to run as root, so its user must be able to enter the folder.
  await chmod(folder, 0o711);
  for (const name of TEMP_VARIABLES) process.env[name] = folder;
  process.env[MARK] = folder;
  return async () => {
    const processes = await remaining(() => markedProcesses(`${MARK}=${folder}`), graceMs);
    for (const { pid } of processes) process.kill(pid, "SIGKILL");
    const entries = await remaining(() => readdir(folder), graceMs);
    const contents = await Promise.all(entries.map((entry) => describe(folder, entry)));
    await rm(folder, { recursive: true, force: true });
    const left = [...processes.map(({ pid, command }) => `process ${pid}: ${command}`), ...contents];
    if (left.length > 0) throw new Error(`The tests left something behind:\n  ${left.join("\n  ")}`);
  };
}

interface LeftProcess {
  readonly pid: number;
  readonly command: string;
}

/** Waits for the last children to exit, and for the cleanup after a killed owner, which runs in another process. */
async function remaining<Left>(find: () => Promise<Left[]>, graceMs: number): Promise<Left[]> {
  const until = Date.now() + graceMs;
  let left = await find();
  while (left.length > 0 && Date.now() < until) {
    await delay(50);
    left = await find();
  }
  return left;
}

/** Number of listed entries per folder, enough to identify its owner. */
const SHOWN_ENTRIES = 5;

async function describe(folder: string, entry: string): Promise<string> {
  const inside = await readdir(join(folder, entry), { recursive: true }).catch(() => []);
  if (inside.length === 0) return entry;
  return `${entry} (${inside.length} inside: ${inside.slice(0, SHOWN_ENTRIES).join(", ")})`;
}

/** Only Linux exposes the environment of other processes. Elsewhere only the folder is checked. */
async function markedProcesses(mark: string): Promise<LeftProcess[]> {
  if (process.platform !== "linux") return [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      try {
        const environment = await readFile(`/proc/${pid}/environ`, "utf8");
        if (pid === process.pid || !environment.split("\0").includes(mark)) return [];
        const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
        return isTestWorker(command) ? [] : [{ pid, command }];
      } catch {
        return []; // It has exited.
      }
    }),
  );
  return found.flat();
}

/** vitest ends its workers after this check. */
function isTestWorker(command: string): boolean {
  return command.includes("vitest") && command.includes("workers");
}
