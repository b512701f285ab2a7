import { type JSX, Show } from "solid-js";

/** Attributes of the input, select or textarea of a field. */
export interface ControlAttributes {
  readonly id: string;
  readonly class: string;
  readonly value: string;
  readonly "aria-invalid": "true" | undefined;
  readonly "aria-describedby": string | undefined;
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void;
}

/** A labelled field with its hint and its error, which its control refers to. */
export function FormField(props: {
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly children: (control: ControlAttributes) => JSX.Element;
}): JSX.Element {
  const hintId = (): string => `${props.id}-hint`;
  const errorId = (): string => `${props.id}-error`;
  // Getters, so that a change of the value does not render the control again.
  const control: ControlAttributes = {
    get id() {
      return props.id;
    },
    class: "input",
    get value() {
      return props.value;
    },
    get "aria-invalid"() {
      return props.error === undefined ? undefined : "true";
    },
    get "aria-describedby"() {
      const ids = [props.error === undefined ? "" : errorId(), props.hint === undefined ? "" : hintId()];
      return ids.filter((id) => id !== "").join(" ") || undefined;
    },
    onInput: (event) => props.onInput(event.currentTarget.value),
  };
  return (
    <div class="field form-field" data-invalid={props.error !== undefined}>
      <label for={props.id}>{props.label}</label>
      {props.children(control)}
      <Show when={props.error}>
        <p class="form-error" id={errorId()}>
          {props.error}
        </p>
      </Show>
      <Show when={props.hint}>
        <p class="form-hint" id={hintId()}>
          {props.hint}
        </p>
      </Show>
    </div>
  );
}
