import { CODES, Refusal } from "../wire/refusal.ts";
import type { FileHandle } from "node:fs/promises";
import { EXEC_LIMITS } from "../limits.ts";
import type { NativePath } from "../wire/path-uri.ts";
import { openFile, type OpenOptions } from "./open-file.ts";

/** Step size for reading files that report a size of zero, such as those of /proc. */
const STEP_BYTES = 64 * 1024;

/** Reads a regular file completely. */
export async function readFileWhole(path: NativePath, options: OpenOptions): Promise<Buffer> {
  const handle = await openFile(path, "read", options);
  try {
    const { size } = await handle.stat();
    assertSize(size);
    return await readToEnd(handle, size);
  } finally {
    await handle.close();
  }
}

async function readToEnd(handle: FileHandle, expected: number): Promise<Buffer> {
  // One byte more than expected, so that the same read also detects the end.
  let bytes = Buffer.allocUnsafeSlow(expected + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    length += bytesRead;
    assertSize(length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    if (length === expected && expected > 0) return bytes.subarray(0, length);
    if (length === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2 + STEP_BYTES);
  }
}

function assertSize(size: number): void {
  if (size <= EXEC_LIMITS.fileBytes) return;
  throw new Refusal(
    CODES.invalidRequest,
    `file is too large to read: limit is ${EXEC_LIMITS.fileBytes} bytes`,
  );
}
