import { createUniqueId, For, type JSX, Show } from "solid-js";

export function Toggle(props: {
  readonly label: string;
  readonly hint?: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}): JSX.Element {
  const id = createUniqueId();
  return (
    <div class="setting-toggle">
      <label>
        <input
          type="checkbox"
          checked={props.value}
          aria-describedby={props.hint === undefined ? undefined : id}
          onChange={(event) => props.onChange(event.currentTarget.checked)}
        />
        {props.label}
      </label>
      <Show when={props.hint}>
        <p class="muted" id={id}>
          {props.hint}
        </p>
      </Show>
    </div>
  );
}

export function Choice<Value extends string>(props: {
  readonly legend: string;
  readonly value: Value;
  readonly choices: readonly (readonly [Value, string])[];
  readonly onChange: (value: Value) => void;
}): JSX.Element {
  const name = createUniqueId();
  return (
    <fieldset class="setting-choice">
      <legend>{props.legend}</legend>
      <For each={props.choices}>
        {([value, label]) => (
          <label>
            <input
              type="radio"
              name={name}
              checked={props.value === value}
              onChange={() => props.onChange(value)}
            />
            {label}
          </label>
        )}
      </For>
    </fieldset>
  );
}
