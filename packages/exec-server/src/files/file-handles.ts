import { Refusal } from "../wire/refusal.ts";
import type { FileHandle } from "node:fs/promises";
import { EXEC_LIMITS } from "../limits.ts";
import { CODES } from "../wire/codes.ts";
import type { NativePath } from "../wire/path-uri.ts";
import { openFile } from "./open-file.ts";
import { writeAll } from "./write-file.ts";

type Mode = "read" | "replace";

interface OpenFile {
  readonly mode: Mode;
  readonly handle: FileHandle;
}

/** The open files of one connection. They name the file that was opened, whatever happens to its path. */
export class FileHandles {
  readonly #files = new Map<string, OpenFile | "opening">();

  async open(id: string, path: NativePath, mode: Mode): Promise<void> {
    this.#assertFree(id);
    this.#files.set(id, "opening");
    try {
      const handle = await openFile(path, mode, true);
      // Closed while it was being opened.
      if (this.#files.get(id) === "opening") this.#files.set(id, { mode, handle });
      else await handle.close();
    } catch (error) {
      if (this.#files.get(id) === "opening") this.#files.delete(id);
      throw error;
    }
  }

  async read(id: string, offset: number, length: number): Promise<{ bytes: Buffer; eof: boolean }> {
    if (length < 1 || length > EXEC_LIMITS.blockBytes) throw badLength("read");
    const handle = this.#get(id, "read");
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    try {
      while (filled < length) {
        const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
    } catch (error) {
      await this.close(id);
      throw error;
    }
    return { bytes: bytes.subarray(0, filled), eof: filled < length };
  }

  async write(id: string, offset: number, bytes: Buffer): Promise<void> {
    if (bytes.length < 1 || bytes.length > EXEC_LIMITS.blockBytes) throw badLength("write");
    await writeAll(this.#get(id, "replace"), bytes, offset);
  }

  async close(id: string): Promise<void> {
    const file = this.#files.get(id);
    this.#files.delete(id);
    if (file !== undefined && file !== "opening") await file.handle.close();
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#files.keys()].map((id) => this.close(id)));
  }

  #assertFree(id: string): void {
    if (Buffer.byteLength(id) > EXEC_LIMITS.handleIdBytes) {
      throw refused(`file handle ID must not exceed ${EXEC_LIMITS.handleIdBytes} bytes`);
    }
    if (this.#files.has(id)) throw refused(`file handle \`${id}\` already exists`);
    if (this.#files.size >= EXEC_LIMITS.fileHandles) {
      throw refused(`at most ${EXEC_LIMITS.fileHandles} file handles may be open`);
    }
  }

  #get(id: string, mode: Mode): FileHandle {
    const file = this.#files.get(id);
    if (file === undefined || file === "opening") {
      throw new Refusal(CODES.notFound, `unknown file handle \`${id}\``);
    }
    if (file.mode !== mode) throw new Refusal(CODES.internal, "Bad file descriptor (os error 9)");
    return file.handle;
  }
}

function badLength(what: "read" | "write"): Refusal {
  return refused(`file ${what} block length must be between 1 and ${EXEC_LIMITS.blockBytes}`);
}

function refused(message: string): Refusal {
  return new Refusal(CODES.invalidRequest, message);
}
