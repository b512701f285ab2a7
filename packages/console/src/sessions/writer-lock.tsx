import { type JSX, Show } from "solid-js";
import "./writer-lock.css";

/** Shown if another program has the thread open: the program, and possible actions. */
export function WriterLock(props: {
  readonly holder: { readonly pid: number; readonly command: string } | null;
  readonly onFork: () => void;
  /** Actions to follow the thread, or to continue in another way. */
  readonly children: JSX.Element;
}): JSX.Element {
  return (
    <section class="writer-lock" aria-label="Another program has the thread open">
      <p>
        <strong>Another program has the thread open.</strong>{" "}
        <Show when={props.holder} fallback="The system does not report which one.">
          {(holder) => (
            <>
              Process {holder().pid}: <code>{holder().command || "unknown"}</code>
            </>
          )}
        </Show>
      </p>
      <div class="writer-lock-actions">
        <button type="button" class="button" onClick={() => props.onFork()}>
          Fork: use a copy now
        </button>
        {props.children}
      </div>
    </section>
  );
}
