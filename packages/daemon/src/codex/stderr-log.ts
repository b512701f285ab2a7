import { SerialQueue } from "@codexkit/rpc/async";
import { appendFile, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const LIMITS = {
  /** Size of a file. The previous file is also kept. */
  fileBytes: 256 * 1024,
  /** Maximum characters waiting to be written. Further text is dropped and counted. */
  pendingCharacters: 64 * 1024,
} as const;

/** Stores the standard error of app-servers in files, so that it can be read after Codex or the daemon has exited. */
export class StderrLog {
  readonly #folder: string;
  readonly #queue = new SerialQueue();
  readonly #pending = new Map<string, string>();
  #pendingCharacters = 0;
  #dropped = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param key The session of a dedicated app-server, or `shared`. */
  add(key: string, line: string): void {
    const text = `${new Date().toISOString()} ${line}\n`;
    if (this.#pendingCharacters + text.length > LIMITS.pendingCharacters) {
      this.#dropped += 1;
      return;
    }
    this.#pendingCharacters += text.length;
    const waiting = this.#pending.get(key);
    this.#pending.set(key, `${waiting ?? ""}${text}`);
    if (waiting === undefined) void this.#queue.run(async () => this.#write(key));
  }

  /**
   * Returns the last complete lines, oldest first. Partial lines are left out, because a truncated secret would not be
   * recognised. Empty if there are none.
   */
  async read(key: string, maxBytes: number): Promise<string> {
    await this.#queue.run(() => {});
    const [older, newer] = await Promise.all([
      readTail(`${this.#path(key)}.1`, maxBytes + 1),
      readTail(this.#path(key), maxBytes + 1),
    ]);
    const whole = Buffer.concat([older, newer]);
    if (whole.length <= maxBytes) return whole.toString();
    // Includes the preceding byte, which is a line break if the remainder starts at a line.
    const tail = whole.subarray(-maxBytes - 1);
    const lineBreak = tail.indexOf("\n");
    return lineBreak < 0 ? "" : tail.subarray(lineBreak + 1).toString();
  }

  /** Removes the files of deleted sessions. */
  async removeExcept(isNeeded: (sessionId: string) => Promise<boolean>): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      const key = name.replace(/\.log(?:\.1)?$/, "");
      if (key !== "shared" && !(await isNeeded(key))) await rm(join(this.#folder, name), { force: true });
    }
  }

  /** Resolves when everything is on disk. */
  async close(): Promise<void> {
    await this.#queue.run(() => {});
  }

  async #write(key: string): Promise<void> {
    const dropped = this.#dropped;
    this.#dropped = 0;
    const text = `${this.#pending.get(key) ?? ""}${dropped > 0 ? `… ${dropped} lines were left out\n` : ""}`;
    this.#pending.delete(key);
    this.#pendingCharacters -= text.length;
    if (this.#pending.size === 0) this.#pendingCharacters = 0;
    const path = this.#path(key);
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const size = (await stat(path).catch(() => undefined))?.size ?? 0;
      if (size > LIMITS.fileBytes) await rename(path, `${path}.1`);
      await appendFile(path, text, { mode: 0o600 });
    } catch {
      // If the disk is full, the log is incomplete, but Codex must keep running.
    }
  }

  #path(key: string): string {
    return join(this.#folder, `${key.replaceAll(/[^\w-]/g, "_")}.log`);
  }
}

async function readTail(path: string, maxBytes: number): Promise<Buffer> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const length = Math.min(size, maxBytes);
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await file.read(buffer, 0, length, size - length);
    return buffer.subarray(0, bytesRead);
  } catch {
    return Buffer.alloc(0);
  }
}
