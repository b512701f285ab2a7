import { For, Show, type JSX } from "solid-js";
import type { Suggestions } from "./create-suggestions.ts";

export const SUGGESTION_LIST_ID = "composer-suggestions";

export function suggestionId(index: number): string {
  return `${SUGGESTION_LIST_ID}-${index}`;
}

/** Files or commands to choose from, above the text field. The field keeps the focus. */
export function SuggestionList(props: {
  readonly suggestions: Suggestions;
  readonly onAccept: (index: number) => void;
}): JSX.Element {
  const label = (): string => (props.suggestions.target()?.type === "file" ? "Files" : "Commands");
  return (
    <Show when={props.suggestions.suggestions().length > 0}>
      <ul class="composer-suggestions" id={SUGGESTION_LIST_ID} role="listbox" aria-label={label()}>
        <For each={props.suggestions.suggestions()}>
          {(suggestion, index) => (
            <li
              id={suggestionId(index())}
              role="option"
              aria-selected={index() === props.suggestions.selected()}
              // The pointer must not take the focus from the text field.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => props.onAccept(index())}
            >
              <span class="composer-suggestion-label">{suggestion.label}</span>
              <span class="composer-suggestion-detail">{suggestion.detail}</span>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}
