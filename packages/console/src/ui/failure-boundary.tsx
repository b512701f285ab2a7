import { ErrorBoundary, type JSX } from "solid-js";

/** Shows the reason in place of a screen or panel that fails, for example because the daemon ended before its code was loaded. */
export function FailureBoundary(props: { readonly children: JSX.Element }) {
  return (
    <ErrorBoundary
      fallback={(error: unknown) => (
        <section class="screen" role="alert">
          <h2>This part of the page has failed</h2>
          <p>{error instanceof Error ? error.message : String(error)}</p>
          <button type="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        </section>
      )}
    >
      {props.children}
    </ErrorBoundary>
  );
}
