import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** What a client can do about a thread that another program has open. */
export interface LockExplanation {
  /** The program that holds the lock, if it runs on this machine and the system reports it. */
  readonly holder: { readonly pid: number; readonly command: string } | null;
  readonly remedies: readonly string[];
}

const REMEDIES = [
  "Wait until the other program closes the thread, and send the command again.",
  "Follow the session read-only. Its stored history can be read while the thread is locked.",
  "Fork the session. The copy can be used immediately.",
];

/** Finds the program that holds Codex's lock of a thread. Linux only; elsewhere the holder is unknown. */
export async function explainLock(codexHome: string, threadId: string): Promise<LockExplanation> {
  const pid = await findHolder(join(codexHome, "thread-writer-locks", `${threadId}.lock`)).catch(
    () => undefined,
  );
  if (pid === undefined) return { holder: null, remedies: REMEDIES };
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return { holder: { pid, command: command.replaceAll("\0", " ").trim().slice(0, 200) }, remedies: REMEDIES };
}

/** A line of /proc/locks: `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`, with the inode at the end of the sixth field. */
async function findHolder(path: string): Promise<number | undefined> {
  const { ino } = await stat(path);
  const locks = await readFile("/proc/locks", "utf8");
  for (const line of locks.split("\n")) {
    const [, , , , pid, file] = line.trim().split(/\s+/);
    if (file?.split(":").at(-1) === String(ino) && pid !== undefined) return Number(pid);
  }
  return undefined;
}
