import type { FileHandle } from "node:fs/promises";
import type { ByteRange } from "./byte-range.ts";

const CHUNK_BYTES = 64 * 1024;

/**
 * Streams the bytes of a range. Each chunk is read when the consumer requests it, so a stalled consumer doesn't buffer
 * any. Always closes the handle. Fails if the file became shorter, because the response has already announced its
 * length.
 */
export function fileBody(
  handle: FileHandle,
  { start, end }: ByteRange,
  onEnd: () => void,
  /**
   * Aborts when the client has disconnected. A server does not cancel the body if the client disconnects before the
   * response is sent.
   */
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
            if (bytesRead === 0) throw new Error("The file became shorter while it was being sent.");
            position += bytesRead;
            controller.enqueue(buffer.subarray(0, bytesRead));
          }
          if (position < end) return;
          await close();
          controller.close();
        } catch (error) {
          // A read fails if the client disconnects during it.
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
