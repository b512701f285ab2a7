import { SerialQueue } from "@codexkit/rpc/async";
import { appendFile, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const LIMITS = {
  /** Of a file. The one before it is kept too. */
  fileBytes: 256 * 1024,
  /** Of what waits to be written. More is left out and counted. */
  pendingCharacters: 64 * 1024,
} as const;

/** What app-servers print to standard error, in files, so that it can be read after the end of codex or of the daemon. */
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

  /** The last lines, oldest first. Empty if there are none. */
  async read(key: string, maxBytes: number): Promise<string> {
    await this.#queue.run(() => {});
    const [older, newer] = await Promise.all([
      readTail(`${this.#path(key)}.1`, maxBytes),
      readTail(this.#path(key), maxBytes),
    ]);
    return Buffer.concat([older, newer]).subarray(-maxBytes).toString();
  }

  /** Removes the files of sessions that are gone. */
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
      // A full disk must not end codex's output.
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
