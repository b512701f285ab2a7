import { createSignal, onCleanup, Show } from "solid-js";

/** How long the confirmation stays. */
const SHOWN_MS = 2_000;

/** Copies a text. Left out where the browser does not allow it, as on plain HTTP of another machine. */
export function CopyButton(props: { readonly text: string; readonly label: string }) {
  const [isCopied, setIsCopied] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));

  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(props.text);
    setIsCopied(true);
    timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
  }

  return (
    <Show when={isSecureContext}>
      <button type="button" class="button button-quiet" aria-label={props.label} onClick={() => void copy()}>
        {isCopied() ? "copied" : "copy"}
      </button>
    </Show>
  );
}
