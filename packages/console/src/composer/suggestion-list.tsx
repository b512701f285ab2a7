import { createMemo, For, type JSX, Show } from "solid-js";
import type { Suggestions } from "./create-suggestions.ts";

export const SUGGESTION_LIST_ID = "composer-suggestions";
/** Number of visible suggestions. They fit on a phone, so that the list need not scroll. The selection moves the window. */
const MAX_SHOWN = 8;

export function suggestionId(index: number): string {
  return `${SUGGESTION_LIST_ID}-${index}`;
}

/** A list of files or commands above the text field. The field keeps the focus. */
export function SuggestionList(props: {
  readonly suggestions: Suggestions;
  readonly onAccept: (index: number) => void;
}): JSX.Element {
  const label = (): string => (props.suggestions.target()?.type === "file" ? "Files" : "Commands");
  const count = (): number => props.suggestions.suggestions().length;
  const first = createMemo(() =>
    Math.max(0, Math.min(props.suggestions.selected() - MAX_SHOWN / 2, count() - MAX_SHOWN)),
  );
  const shown = createMemo(() => props.suggestions.suggestions().slice(first(), first() + MAX_SHOWN));
  return (
    <Show when={count() > 0}>
      <ul class="composer-suggestions" id={SUGGESTION_LIST_ID} role="listbox" aria-label={label()}>
        <For each={shown()}>
          {(suggestion, position) => {
            const index = (): number => first() + position();
            return (
              <li
                id={suggestionId(index())}
                role="option"
                aria-selected={index() === props.suggestions.selected()}
                aria-setsize={count()}
                aria-posinset={index() + 1}
                // The text field must keep the focus when a suggestion is clicked.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => props.onAccept(index())}
              >
                <span class="composer-suggestion-label">{suggestion.label}</span>
                <span class="composer-suggestion-detail">{suggestion.detail}</span>
              </li>
            );
          }}
        </For>
      </ul>
    </Show>
  );
}
