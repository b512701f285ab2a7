import { type JSX, Show } from "solid-js";

/** Another program has the thread open: who it is, and what can be done. */
export function WriterLock(props: {
  readonly holder: { readonly pid: number; readonly command: string } | null;
  readonly isWaiting: boolean;
  readonly onFork: () => void;
  readonly onWait: () => void;
  readonly onStopWaiting: () => void;
  /** How it can be followed meanwhile. */
  readonly children: JSX.Element;
}): JSX.Element {
  return (
    <section class="writer-lock" aria-label="Another program has the thread open">
      <h3>Another program has the thread open</h3>
      <p>
        <Show when={props.holder} fallback="The system does not say which one it is.">
          {(holder) => (
            <>
              Process {holder().pid}: <code>{holder().command || "unknown"}</code>
            </>
          )}
        </Show>
      </p>
      <p class="muted">{props.children}</p>
      <div class="thread-actions">
        <button type="button" class="button" onClick={() => props.onFork()}>
          Fork: use a copy now
        </button>
        <Show
          when={props.isWaiting}
          fallback={
            <button type="button" class="button" onClick={() => props.onWait()}>
              Wait, then continue here
            </button>
          }
        >
          <button type="button" class="button" onClick={() => props.onStopWaiting()}>
            Stop waiting
          </button>
          <span role="status">Waiting for the other program to close it…</span>
        </Show>
      </div>
    </section>
  );
}
