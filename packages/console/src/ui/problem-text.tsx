import { type JSX, Show } from "solid-js";

/** A problem in one sentence, which is announced to screen readers. Empty while `text` is undefined. */
export function ProblemText(props: {
  readonly text: string | undefined;
  /** For `aria-describedby` of the corresponding field. */
  readonly id?: string;
}): JSX.Element {
  return (
    <Show when={props.text}>
      {(text) => (
        <p class="form-error" id={props.id} role="alert">
          {text()}
        </p>
      )}
    </Show>
  );
}
