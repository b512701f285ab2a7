import { type JSX, Show } from "solid-js";

/** A labelled field with its hint and its error. The children get the IDs for `aria-describedby`. */
export function FormField(props: {
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly children: JSX.Element;
}): JSX.Element {
  return (
    <div class="field form-field" data-invalid={props.error !== undefined}>
      <label for={props.id}>{props.label}</label>
      {props.children}
      <Show when={props.error}>
        <p class="form-error" id={`${props.id}-error`}>
          {props.error}
        </p>
      </Show>
      <Show when={props.hint}>
        <p class="form-hint" id={`${props.id}-hint`}>
          {props.hint}
        </p>
      </Show>
    </div>
  );
}

/** The value of `aria-describedby` of a field. */
export function describedBy(id: string, hint: unknown, error: unknown): string | undefined {
  const ids = [
    ...(error === undefined ? [] : [`${id}-error`]),
    ...(hint === undefined ? [] : [`${id}-hint`]),
  ];
  return ids.length === 0 ? undefined : ids.join(" ");
}
