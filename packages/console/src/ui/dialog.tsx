import { type JSX, onCleanup, onMount } from "solid-js";

/** A modal dialog. It returns the focus when it is closed. */
export function Dialog(props: {
  readonly label: string;
  readonly class?: string;
  readonly close: () => void;
  readonly children: JSX.Element;
}) {
  let dialog!: HTMLDialogElement;
  const opener = document.activeElement;
  onMount(() => dialog.showModal());
  onCleanup(() => {
    if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
  });
  return (
    <dialog
      ref={dialog}
      class={`dialog ${props.class ?? ""}`}
      aria-label={props.label}
      onClose={() => props.close()}
      onClick={(event) => {
        if (event.target === dialog) dialog.close();
      }}
    >
      {props.children}
    </dialog>
  );
}
