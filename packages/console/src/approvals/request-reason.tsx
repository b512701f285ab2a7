import { Show } from "solid-js";
import { VisibleText } from "../ui/visible-text-view.tsx";

/** Codex's reason for a request, if it gives one. */
export function RequestReason(props: { readonly reason: string | null }) {
  return (
    <Show when={props.reason}>
      {(reason) => (
        <p class="approval-reason">
          Codex says: “<VisibleText text={reason()} />”
        </p>
      )}
    </Show>
  );
}
