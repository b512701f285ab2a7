import { CODES, Refusal } from "../wire/refusal.ts";
import { EXEC_LIMITS } from "../limits.ts";
import type { BlockFile, BlockMode } from "./block-file.ts";

interface OpenFile {
  readonly mode: BlockMode;
  readonly file: BlockFile;
}

/** The open files of one session, with or without a sandbox, by the ids that its client chose. */
export class FileHandles {
  readonly #files = new Map<string, OpenFile | "opening">();
  #isEnded = false;

  async open(id: string, mode: BlockMode, openFile: () => Promise<BlockFile>): Promise<void> {
    this.#assertFree(id);
    this.#files.set(id, "opening");
    try {
      const file = await openFile();
      // The session ended while the file was being opened.
      if (this.#files.get(id) === "opening") this.#files.set(id, { mode, file });
      else await file.close();
    } catch (error) {
      if (this.#files.get(id) === "opening") this.#files.delete(id);
      throw error;
    }
  }

  async read(id: string, offset: number, length: number): Promise<{ bytes: Buffer; eof: boolean }> {
    if (length < 1 || length > EXEC_LIMITS.blockBytes) throw badLength("read");
    try {
      return await this.#get(id, "read").read(offset, length);
    } catch (error) {
      // A failed read closes the file, even if it is open for writing, as in Codex.
      await this.close(id);
      throw error;
    }
  }

  async write(id: string, offset: number, bytes: Buffer): Promise<void> {
    if (bytes.length < 1 || bytes.length > EXEC_LIMITS.blockBytes) throw badLength("write");
    await this.#get(id, "replace").write(offset, bytes);
  }

  async close(id: string): Promise<void> {
    const open = this.#files.get(id);
    this.#files.delete(id);
    if (open !== undefined && open !== "opening") await open.file.close();
  }

  /** Closes all files. No file can be opened afterwards. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await Promise.allSettled([...this.#files.keys()].map((id) => this.close(id)));
  }

  #assertFree(id: string): void {
    if (this.#isEnded) throw refused("The session has ended.");
    if (Buffer.byteLength(id) > EXEC_LIMITS.handleIdBytes) {
      throw refused(`file handle ID must not exceed ${EXEC_LIMITS.handleIdBytes} bytes`);
    }
    if (this.#files.has(id)) throw refused(`file handle \`${id}\` already exists`);
    if (this.#files.size >= EXEC_LIMITS.fileHandles) {
      throw refused(`at most ${EXEC_LIMITS.fileHandles} file handles may be open`);
    }
  }

  #get(id: string, mode: BlockMode): BlockFile {
    const open = this.#files.get(id);
    if (open === undefined || open === "opening") {
      throw new Refusal(CODES.notFound, `unknown file handle \`${id}\``);
    }
    if (open.mode !== mode) throw new Refusal(CODES.internal, "Bad file descriptor (os error 9)");
    return open.file;
  }
}

function badLength(what: "read" | "write"): Refusal {
  return refused(`file ${what} block length must be between 1 and ${EXEC_LIMITS.blockBytes}`);
}

function refused(message: string): Refusal {
  return new Refusal(CODES.invalidRequest, message);
}
