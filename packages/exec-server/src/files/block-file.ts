import type { FileHandle } from "node:fs/promises";
import type { NativePath } from "../wire/path-uri.ts";
import { openFile, type OpenOptions } from "./open-file.ts";
import { writeAll } from "./write-file.ts";

export type BlockMode = "read" | "replace";

/** A file that is open for reading or writing in blocks. */
export interface BlockFile {
  read(offset: number, length: number): Promise<{ readonly bytes: Buffer; readonly eof: boolean }>;
  write(offset: number, bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/**
 * A file opened by this process. Operations affect this file, even if its path later refers to another one.
 */
export class DirectFile implements BlockFile {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(
    path: NativePath,
    mode: BlockMode,
    { isProcHidden }: Pick<OpenOptions, "isProcHidden"> = {},
  ): Promise<DirectFile> {
    return new DirectFile(await openFile(path, mode, { followSymlinks: true, isProcHidden }));
  }

  async read(offset: number, length: number): Promise<{ bytes: Buffer; eof: boolean }> {
    const bytes = Buffer.allocUnsafeSlow(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#handle.read(bytes, filled, length - filled, offset + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return { bytes: bytes.subarray(0, filled), eof: filled < length };
  }

  write(offset: number, bytes: Buffer): Promise<void> {
    return writeAll(this.#handle, bytes, offset);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
