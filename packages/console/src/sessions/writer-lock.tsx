import { type JSX, Show } from "solid-js";
import "./writer-lock.css";

/** Another program has the thread open: who it is, and what can be done. */
export function WriterLock(props: {
  readonly holder: { readonly pid: number; readonly command: string } | null;
  readonly onFork: () => void;
  /** How it can be followed meanwhile, and other ways to go on. */
  readonly children: JSX.Element;
}): JSX.Element {
  return (
    <section class="writer-lock" aria-label="Another program has the thread open">
      <p>
        <strong>Another program has the thread open.</strong>{" "}
        <Show when={props.holder} fallback="The system does not say which one it is.">
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
