import type { Writable } from "node:stream";
import { EXEC_LIMITS } from "../limits.ts";

/**
 * Writes to a child's stdin. Waits only if much data is unwritten. Discards input for a child that has
 * exited.
 */
export function stdinWriter(stream: Writable): { write(bytes: Buffer): Promise<void> | undefined } {
  stream.on("error", () => {});
  return {
    write(bytes) {
      if (stream.destroyed || !stream.writable) return undefined;
      if (stream.write(bytes) || stream.writableLength < EXEC_LIMITS.stdinHighBytes) return undefined;
      return new Promise((resolve) => {
        const done = (): void => {
          stream.off("drain", done);
          stream.off("close", done);
          resolve();
        };
        stream.on("drain", done);
        stream.on("close", done);
      });
    },
  };
}
