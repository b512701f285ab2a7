import { createHash, type Hash } from "node:crypto";
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { PromptError } from "../errors.ts";
import { WORKSPACE_LIMITS } from "./limits.ts";
import { isSameVersion, toVersion, type FileVersion } from "./tree-entry.ts";

/** The location of stored content. */
export interface StoredContent {
  readonly offset: number;
  readonly length: number;
  /** SHA-256 of the content. */
  readonly hash: string;
}

const CHUNK_BYTES = 256 * 1024;

const ZEROS = Buffer.alloc(CHUNK_BYTES);

/**
 * Stores the content of many files in a single file. Equal content is stored once. A single file is much faster to write than one
 * per content: the first snapshot of 10,000 files creates only one file.
 */
export class ContentFile implements Disposable {
  readonly #fd: number;
  readonly #maxBytes: number;
  readonly #byHash = new Map<string, StoredContent>();
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #end: number;
  #isDirty = false;

  constructor(path: string, maxBytes: number = WORKSPACE_LIMITS.snapshotBytes) {
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#end = fstatSync(this.#fd).size;
    this.#maxBytes = maxBytes;
  }

  /**
   * Stores a file's content. Returns the stored version, or undefined if the file no longer exists, can't be read or keeps
   * changing while it is read. Calls must not overlap.
   */
  async store(
    path: string,
  ): Promise<{ readonly content: StoredContent; readonly version: FileVersion } | undefined> {
    for (let attempt = 0; attempt < WORKSPACE_LIMITS.readAttempts; attempt += 1) {
      const fd = openFile(path);
      if (fd === undefined) return undefined;
      try {
        const version = toVersion(fstatSync(fd));
        // Checked before reading, because a sparse file can claim any size, and reading takes time proportional to it.
        this.#checkSize(this.#end + version.size);
        const content = await this.#copyFrom(fd);
        if (isSameVersion(toVersion(fstatSync(fd)), version)) return { content, version };
      } finally {
        closeSync(fd);
      }
    }
    return undefined;
  }

  /** Writes stored content to an open file. */
  copyTo(content: StoredContent, fd: number): void {
    for (let done = 0; done < content.length;) {
      const length = Math.min(CHUNK_BYTES, content.length - done);
      const read = readSync(this.#fd, this.#chunk, 0, length, content.offset + done);
      if (read === 0)
        throw new PromptError("invalid_snapshot", "The workspace's stored content is incomplete.");
      if (!this.#isZero(read)) {
        for (let written = 0; written < read;) {
          written += writeSync(fd, this.#chunk, written, read - written, done + written);
        }
      }
      done += read;
    }
    // Extends the file by a hole at its end, which is not written.
    ftruncateSync(fd, content.length);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  async #copyFrom(fd: number): Promise<StoredContent> {
    const hash = createHash("sha256");
    const offset = this.#end;
    // A failed attempt may have left data behind.
    if (this.#isDirty) ftruncateSync(this.#fd, offset);
    this.#isDirty = true;
    const length = await this.#append(fd, hash);
    this.#isDirty = false;
    const digest = hash.digest("hex");
    const known = this.#byHash.get(digest);
    if (known) {
      // Already stored. Truncated, because holes in the next content must read as zeros.
      ftruncateSync(this.#fd, offset);
      return known;
    }
    ftruncateSync(this.#fd, offset + length);
    const content: StoredContent = { offset, length, hash: digest };
    this.#end = offset + length;
    this.#byHash.set(digest, content);
    return content;
  }

  async #append(fd: number, hash: Hash): Promise<number> {
    let length = 0;
    for (;;) {
      // A chunk takes about 1 ms, so a large file would block the event loop.
      if (length > 0) await setImmediate();
      const read = readSync(fd, this.#chunk, 0, CHUNK_BYTES, length);
      if (read === 0) return length;
      this.#checkSize(this.#end + length + read);
      hash.update(this.#chunk.subarray(0, read));
      if (!this.#isZero(read)) {
        for (let written = 0; written < read;) {
          written += writeSync(this.#fd, this.#chunk, written, read - written, this.#end + length + written);
        }
      }
      length += read;
    }
  }

  #checkSize(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw new PromptError(
      "workspace_too_large",
      `The workspace's snapshots need more than ${this.#maxBytes} bytes. Ignore large files in .gitignore.`,
    );
  }

  /** Whether the chunk can be stored as a hole, so that a sparse file does not fill the disk. */
  #isZero(length: number): boolean {
    return length === CHUNK_BYTES && this.#chunk[0] === 0 && this.#chunk.equals(ZEROS);
  }
}

/** Error codes for files that no longer exist, were replaced by something else or may not be read. */
const NO_FILE_CODES: ReadonlySet<string> = new Set([
  "ENOENT",
  "ENOTDIR",
  "ELOOP",
  "ENXIO",
  "EACCES",
  "EPERM",
]);

/** Opens a regular file. Never follows a link that replaced it. */
function openFile(path: string): number | undefined {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && NO_FILE_CODES.has(code)) return undefined;
    throw error;
  }
}

/** Returns the SHA-256 of a file's content, or undefined if the file does not exist or can't be read. */
export function hashFile(path: string): string | undefined {
  const fd = openFile(path);
  if (fd === undefined) return undefined;
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk))
      hash.update(chunk.subarray(0, read));
  } finally {
    closeSync(fd);
  }
  return hash.digest("hex");
}
