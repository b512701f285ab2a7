import { For, Show } from "solid-js";
import { visibleParts } from "./visible-text.ts";

/** Text on which a person bases a decision. Hidden characters are shown as marked escapes. */
export function VisibleText(props: { readonly text: string }) {
  return (
    <For each={visibleParts(props.text)}>
      {({ text, isEscape }) => (
        <Show when={isEscape} fallback={text}>
          <span class="escape">{text}</span>
        </Show>
      )}
    </For>
  );
}
