export interface ForwardedBodyOptions {
  /** The source is cancelled if it sends nothing for this long while the client is reading. */
  readonly idleMs: number;
  /** Ends the body as if the source had ended. Undefined if the client knows the length of the body. */
  readonly end?: AbortSignal | undefined;
  /** Called once when the body ends for any reason. */
  readonly onEnd: () => void;
  /** Destroys the client's connection. Returns false if that is not possible. */
  readonly destroyConnection: () => boolean;
}

/**
 * Forwards the body of another node's response. Each chunk is read when the client has received the previous one. If
 * the source fails, the client's connection is destroyed, so that the client does not treat a partial body as complete.
 */
export function forwardBody(
  source: ReadableStream<Uint8Array>,
  { idleMs, end, onEnd, destroyConnection }: ForwardedBodyOptions,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let hasEnded = false;
  const finish = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    end?.removeEventListener("abort", stop);
    onEnd();
  };
  const stop = (): void => {
    // This also ends a pending read.
    void reader.cancel().catch(() => {});
  };
  end?.addEventListener("abort", stop, { once: true });
  if (end?.aborted) stop();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const idle = Promise.withResolvers<never>();
        const timer = setTimeout(
          () => idle.reject(new Error(`The session's node sent nothing for ${idleMs} ms.`)),
          idleMs,
        );
        try {
          const { done, value } = await Promise.race([reader.read(), idle.promise]);
          if (!done) return controller.enqueue(value);
          finish();
          controller.close();
        } catch (error) {
          finish();
          stop();
          // Destroying the connection is preferred, because the HTTP adapter would log an error to the console and
          // write its message into the body.
          if (destroyConnection()) controller.close();
          else controller.error(error);
        } finally {
          clearTimeout(timer);
        }
      },
      cancel: () => {
        finish();
        stop();
      },
    },
    { highWaterMark: 0 },
  );
}
