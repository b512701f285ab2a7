/** After this time, a hidden page closes its stream. The cursor is kept, so that no event is lost. */
const HIDDEN_MS = 30_000;
const HIDDEN_LOCK = "codexkit.hidden-stream";

export interface HiddenPageOptions {
  /** Closes the stream. */
  readonly onPause: () => void;
  /** Opens a stream for notifications of the inbox. Called in one of the hidden tabs. */
  readonly onKeep: () => void;
  /** Opens the stream again. */
  readonly onResume: () => void;
}

/** Closes the connections of hidden tabs. One of the tabs keeps its connection for notifications. Returns a function that stops this. */
export function watchHiddenPage({ onPause, onKeep, onResume }: HiddenPageOptions): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Defined while the page is paused. */
  let visible: AbortController | undefined;
  const pause = (): void => {
    visible = new AbortController();
    const { signal } = visible;
    onPause();
    const { locks } = navigator as Partial<Navigator>;
    void locks
      ?.request(HIDDEN_LOCK, { signal }, async () => {
        onKeep();
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      })
      .catch(() => undefined);
  };
  const onChange = (): void => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(pause, HIDDEN_MS);
    else if (visible) {
      visible.abort();
      visible = undefined;
      onResume();
    }
  };
  document.addEventListener("visibilitychange", onChange);
  return () => document.removeEventListener("visibilitychange", onChange);
}
