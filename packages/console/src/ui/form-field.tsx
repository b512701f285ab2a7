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

interface Notes {
  /** The ID of the control, from which those of the notes derive. */
  readonly id: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  /** Renders the label and the hint if they come from outside and may have hidden characters. */
  readonly render?: (text: string) => JSX.Element;
}

/** Returns the IDs of the notes that a field has, for `aria-describedby`. Undefined if it has none. */
export function describedBy({ id, hint, error }: Notes): string | undefined {
  const ids = [error === undefined ? [] : [`${id}-error`], hint === undefined ? [] : [`${id}-hint`]].flat();
  return ids.length === 0 ? undefined : ids.join(" ");
}

/** The error and the hint of a field. */
export function FieldNotes(props: Notes): JSX.Element {
  return (
    <>
      <Show when={props.error}>
        {(error) => (
          <p class="form-error" id={`${props.id}-error`}>
            {error()}
          </p>
        )}
      </Show>
      <Show when={props.hint}>
        {(hint) => (
          <p class="form-hint" id={`${props.id}-hint`}>
            {props.render?.(hint()) ?? hint()}
          </p>
        )}
      </Show>
    </>
  );
}

/** A labelled field with its hint and its error, which its control refers to. */
export function FormField(
  props: Notes & {
    readonly label: string;
    /** Says after the label that an answer is optional. */
    readonly isOptional?: boolean;
    readonly value: string;
    readonly onInput?: (value: string) => void;
    readonly children: (control: ControlAttributes) => JSX.Element;
  },
): JSX.Element {
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
      return describedBy(props);
    },
    onInput: (event) => props.onInput?.(event.currentTarget.value),
  };
  return (
    <div class="field form-field" data-invalid={props.error !== undefined}>
      <label for={props.id}>
        {props.render?.(props.label) ?? props.label}
        <Show when={props.isOptional}>
          <span class="muted"> (optional)</span>
        </Show>
      </label>
      {props.children(control)}
      <FieldNotes {...props} />
    </div>
  );
}
