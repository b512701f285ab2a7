import type { FileHandle } from "node:fs/promises";
import type { ByteRange } from "./byte-range.ts";

const CHUNK_BYTES = 64 * 1024;

/**
 * The bytes of a range. The next chunk is read when the reader wants it, so that a stalled reader holds none. Closes the handle,
 * however it ends, and fails if the file has become shorter: the client was promised all bytes.
 */
export function fileBody(
  handle: FileHandle,
  { start, end }: ByteRange,
  onEnd: () => void,
  /** The reader has gone. A server does not cancel the body of a response to a client that left before it was sent. */
  signal?: AbortSignal,
): ReadableStream<Uint8Array> {
  let position = start;
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    signal?.removeEventListener("abort", leave);
    onEnd();
    await handle.close();
  };
  const leave = (): void => void close().catch(() => {});
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (!isOpen) return controller.close();
        try {
          if (position < end) {
            const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
            const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
            if (bytesRead === 0) throw new Error("The file became shorter while it was sent.");
            position += bytesRead;
            controller.enqueue(buffer.subarray(0, bytesRead));
          }
          if (position < end) return;
          await close();
          controller.close();
        } catch (error) {
          // A read fails when the reader leaves in the middle of it.
          if (signal?.aborted === true) return controller.close();
          await close();
          controller.error(error);
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}
