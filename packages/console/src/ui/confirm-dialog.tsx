import { type JSX, onMount } from "solid-js";
import "./confirm-dialog.css";

/** Asks for confirmation of an action. Escape and the first button cancel it. */
export function ConfirmDialog(props: {
  readonly title: string;
  readonly action: string;
  /** Label of the button that cancels. Default: "Keep". */
  readonly keep?: string;
  readonly children: JSX.Element;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}): JSX.Element {
  let dialog!: HTMLDialogElement;
  onMount(() => dialog.showModal());
  return (
    <dialog
      class="confirm-dialog"
      ref={(element) => (dialog = element)}
      aria-labelledby="confirm-title"
      onClose={() => props.onClose()}
    >
      <h2 id="confirm-title">{props.title}</h2>
      <div>{props.children}</div>
      <form method="dialog" class="confirm-actions">
        <button class="button" autofocus>
          {props.keep ?? "Keep"}
        </button>
        <button class="button button-danger" onClick={() => props.onConfirm()}>
          {props.action}
        </button>
      </form>
    </dialog>
  );
}
