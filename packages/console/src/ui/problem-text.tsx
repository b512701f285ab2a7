import { type JSX, Show } from "solid-js";

/** What went wrong, in one sentence that is announced. Nothing while `text` is undefined. */
export function ProblemText(props: {
  readonly text: string | undefined;
  /** For `aria-describedby` of the field that it belongs to. */
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
