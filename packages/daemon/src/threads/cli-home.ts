import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { DaemonError } from "../errors.ts";
import { errorCode } from "../files/file-error.ts";
import type { ThreadLimits } from "./limits.ts";
import { costOf, readLinesBackward } from "./rollout-lines.ts";

/** A rollout file as described by its name. Its contents have not been read yet. */
export interface RolloutName {
  /** The part of the name after the time: the thread ID, and the segment after a revert. */
  readonly rolloutId: string;
  readonly threadId: string;
  /** Time when the file was created, in the time zone of the program that created it: `2026-11-16T15-25-44`. */
  readonly time: string;
  /** Path relative to the home, without the suffix of a compressed file. */
  readonly path: string;
  readonly isArchived: boolean;
  readonly isCompressed: boolean;
}

export interface OpenRollout extends AsyncDisposable {
  readonly name: RolloutName;
  readonly handle: FileHandle;
  /** Decompressed size when the file was opened. */
  readonly size: number;
  readonly updatedAt: number;
  /** Size of the file on disk. */
  readonly diskBytes: number;
  /** Inode of the file in the home, used to detect that another file has replaced it. */
  readonly inode: number;
}

/** A file or folder in the home that can't be used, and the reason. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

const CHUNK_BYTES = 64 * 1024;
const RECENT_MS = 2000;
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const NAME = new RegExp(
  String.raw`^rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-((${UUID})(?:_${UUID})?)\.jsonl(\.zst)?$`,
);
const DATE_FOLDERS = [/^\d{4}$/, /^\d\d$/, /^\d\d$/] as const;

/**
 * The user's Codex home, which is only read. Symbolic links and anything that Codex does not write are skipped, so a
 * rollout is never read through a link to another file.
 */
export class CliHome {
  readonly path: string;
  readonly #scratchFolder: string;
  readonly #limits: ThreadLimits;
  #recent: { readonly at: number; readonly names: Promise<readonly RolloutName[]> } | undefined;

  /** @param scratchFolder Folder in which compressed files are unpacked. */
  constructor(path: string, { scratchFolder, limits }: { scratchFolder: string; limits: ThreadLimits }) {
    this.path = path;
    this.#scratchFolder = scratchFolder;
    this.#limits = limits;
  }

  /** Returns all rollout files, newest first. A thread that was reverted has several files. */
  async list(onSkip: (file: SkippedFile) => void = () => {}): Promise<readonly RolloutName[]> {
    const names: RolloutName[] = [];
    await this.#addFolder(names, "archived_sessions", [], onSkip);
    await this.#addFolder(names, "sessions", DATE_FOLDERS, onSkip);
    // While a file is being compressed, both versions exist for a moment.
    const byId = new Map<string, RolloutName>();
    for (const name of names) {
      const other = byId.get(name.rolloutId);
      if (!other || other.isCompressed || name.time > other.time) byId.set(name.rolloutId, name);
    }
    return [...byId.values()].toSorted((a, b) => compare(b, a));
  }

  /**
   * Returns the files of one thread, newest first. The result can be up to two seconds old, because many clients query
   * it repeatedly.
   */
  async recentFilesOf(threadId: string): Promise<readonly RolloutName[]> {
    if (!this.#recent || Date.now() - this.#recent.at > RECENT_MS) {
      this.#recent = { at: Date.now(), names: this.list() };
    }
    return (await this.#recent.names).filter((name) => name.threadId === threadId);
  }

  /**
   * Opens a rollout for reading. Rejects with `thread_unreadable` if it is not a regular file, or too large.
   *
   * @param headBytes How many bytes of a compressed file are needed. Default: all.
   */
  async open(
    name: RolloutName,
    { headBytes = Number.POSITIVE_INFINITY }: { readonly headBytes?: number } = {},
  ): Promise<OpenRollout> {
    const path = join(this.path, name.isCompressed ? `${name.path}.zst` : name.path);
    const handle = await openRegular(path, name.path);
    try {
      const { size, mtimeMs, ino } = await handle.stat();
      if (size > this.#limits.fileBytes) throw tooLarge(name.path, this.#limits.fileBytes);
      const facts = { name, updatedAt: Math.round(mtimeMs), diskBytes: size, inode: ino };
      if (!name.isCompressed) {
        return { ...facts, handle, size, [Symbol.asyncDispose]: async () => handle.close() };
      }
      const unpacked = await this.#unpack(handle, name.path, headBytes);
      const { size: unpackedSize } = await unpacked.stat();
      await handle.close();
      return {
        ...facts,
        handle: unpacked,
        size: unpackedSize,
        [Symbol.asyncDispose]: async () => unpacked.close(),
      };
    } catch (error) {
      await handle.close().catch(() => {});
      throw error;
    }
  }

  /** Returns the names of threads by ID. Codex appends to the file, so the last name of a thread applies. */
  async threadNames(): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    const { lineBytes: maxLineBytes, searchBytes } = this.#limits;
    const path = join(this.path, "session_index.jsonl");
    try {
      await using handle = await openRegular(path, "session_index.jsonl");
      const { size } = await handle.stat();
      let budget = searchBytes;
      const range = { from: Math.max(0, size - maxLineBytes), to: size, maxLineBytes };
      for await (const line of readLinesBackward(handle, range)) {
        addName(names, line.text ?? "");
        budget -= costOf(line);
        if (budget <= 0) break;
      }
    } catch {
      // If the file does not exist, threads have no names.
    }
    return names;
  }

  async #addFolder(
    names: RolloutName[],
    folder: string,
    [expected, ...deeper]: readonly RegExp[],
    onSkip: (file: SkippedFile) => void,
  ): Promise<void> {
    const entries = await this.#entries(folder, onSkip);
    for (const entry of entries.toSorted().toReversed()) {
      if (names.length >= this.#limits.files) {
        onSkip({ path: folder, reason: `There are more than ${this.#limits.files} rollout files.` });
        return;
      }
      const path = `${folder}/${entry}`;
      if (expected) {
        if (expected.test(entry)) await this.#addFolder(names, path, deeper, onSkip);
        continue;
      }
      const name = parseName(folder, entry);
      if (name) names.push(name);
      else if (entry.startsWith("rollout-"))
        onSkip({ path, reason: "Its name does not have Codex's format." });
    }
  }

  async #entries(folder: string, onSkip: (file: SkippedFile) => void): Promise<string[]> {
    const path = join(this.path, folder);
    try {
      const stats = await lstat(path);
      if (stats.isDirectory()) return await readdir(path);
      onSkip({
        path: folder,
        reason: stats.isSymbolicLink() ? "It is a symbolic link." : "It is not a folder.",
      });
    } catch (error) {
      if (errorCode(error) !== "ENOENT") onSkip({ path: folder, reason: (error as Error).message });
    }
    return [];
  }

  /** The file is already unlinked when this resolves, so nothing remains on disk. */
  async #unpack(source: FileHandle, name: string, headBytes: number): Promise<FileHandle> {
    await mkdir(this.#scratchFolder, { recursive: true, mode: 0o700 });
    const path = join(this.#scratchFolder, `${randomUUID()}.part`);
    const target = await open(path, "wx+", 0o600);
    const bytes = Readable.from(readChunks(source));
    const contents = createZstdDecompress();
    bytes.once("error", (error) => contents.destroy(error));
    try {
      await rm(path, { force: true });
      let written = 0;
      for await (const chunk of bytes.pipe(contents) as AsyncIterable<Buffer>) {
        written += chunk.length;
        if (written > this.#limits.fileBytes) throw tooLarge(name, this.#limits.fileBytes);
        await target.writeFile(chunk);
        if (written >= headBytes) break;
      }
      return target;
    } catch (error) {
      await target.close();
      if (DaemonError.is(error)) throw error;
      throw unreadable(name, "Decompression failed.", error);
    } finally {
      bytes.destroy();
    }
  }
}

export function unreadable(path: string, reason: string, cause?: unknown): DaemonError {
  return new DaemonError("thread_unreadable", `The rollout "${path}" can't be used. ${reason}`, { cause });
}

/** Node's own stream would close the handle. */
async function* readChunks(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function tooLarge(path: string, maxBytes: number): DaemonError {
  return unreadable(path, `It is larger than ${maxBytes} bytes.`);
}

/**
 * Never blocks on a pipe or device: the path is checked before it is opened, and the handle is checked again
 * afterwards.
 */
async function openRegular(path: string, name: string): Promise<FileHandle> {
  let handle: FileHandle | undefined;
  try {
    if (!(await lstat(path)).isFile()) throw unreadable(name, "It is a symbolic link or not a regular file.");
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) throw unreadable(name, "It is not a regular file.");
    if ((await realpath(path)) !== path)
      throw unreadable(name, "Its path contains a folder that is a symbolic link.");
    return handle;
  } catch (error) {
    await handle?.close();
    if (DaemonError.is(error)) throw error;
    throw unreadable(name, (error as Error).message.split(",")[0] ?? "", error);
  }
}

function parseName(folder: string, entry: string): RolloutName | undefined {
  const match = NAME.exec(entry);
  if (!match) return undefined;
  const [, time = "", rolloutId = "", threadId = "", suffix] = match;
  return {
    rolloutId,
    threadId,
    time,
    path: `${folder}/${entry.replace(/\.zst$/, "")}`,
    isArchived: folder === "archived_sessions",
    isCompressed: suffix !== undefined,
  };
}

/** Orders by time, then by ID, which is a UUID of version 7 and increases within a second. */
export function compare(a: RolloutName, b: RolloutName): number {
  const [left, right] = [`${a.time} ${a.rolloutId}`, `${b.time} ${b.rolloutId}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

function addName(names: Map<string, string>, line: string): void {
  try {
    const { id, thread_name: name } = JSON.parse(line) as { id?: unknown; thread_name?: unknown };
    if (typeof id === "string" && typeof name === "string" && !names.has(id))
      names.set(id, name.slice(0, 256));
  } catch {
    // If only the end of a long file was read, its first line is incomplete.
  }
}
