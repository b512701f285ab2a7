export interface RelayedBodyOptions {
  /** A source that sends nothing for this long while the client waits is given up. */
  readonly idleMs: number;
  /** Ends the body, as if the source had ended. Undefined for one whose length is known to the client. */
  readonly end?: AbortSignal | undefined;
  /** Called once, however it ends. */
  readonly onEnd: () => void;
  /** Breaks the connection of the client off. False if that is not possible here. */
  readonly breakOff: () => boolean;
}

/**
 * The body of another node's response. The next chunk is read when the client has taken the previous one. If the source breaks off,
 * so does the body: the client must not take what it has for the whole.
 */
export function relayBody(
  source: ReadableStream<Uint8Array>,
  { idleMs, end, onEnd, breakOff }: RelayedBodyOptions,
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
    // A pending read ends with it.
    void reader.cancel().catch(() => {});
  };
  end?.addEventListener("abort", stop, { once: true });
  if (end?.aborted) stop();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const idle = Promise.withResolvers<never>();
        const timer = setTimeout(
          () => idle.reject(new Error(`The node of the session sent nothing for ${idleMs} ms.`)),
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
          // The adapter would write the error to the console, and its message into the body.
          if (breakOff()) controller.close();
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
