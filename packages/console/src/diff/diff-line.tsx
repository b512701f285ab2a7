import { createMemo, createSignal, For, Show } from "solid-js";
import { VisibleText } from "../ui/visible-text-view.tsx";
import type { WordSpan } from "./word-diff.ts";

/** Characters of a line that are drawn at first. Lines of generated files can have millions. */
const SHOWN_CHARACTERS = 2_000;

/** The text of a line, with the words that differ marked. A very long one is cut, and says so. */
export function DiffLine(props: { readonly text: string; readonly spans: readonly WordSpan[] | undefined }) {
  const [isWhole, setIsWhole] = createSignal(false);
  const isCut = () => props.text.length > SHOWN_CHARACTERS && !isWhole();
  const spans = createMemo((): readonly WordSpan[] => {
    if (props.spans) return props.spans;
    return [{ text: isCut() ? props.text.slice(0, SHOWN_CHARACTERS) : props.text, isChanged: false }];
  });
  return (
    <>
      <For each={spans()}>
        {({ text, isChanged }) => (
          <Show when={isChanged} fallback={<VisibleText text={text} />}>
            <mark class="diff-word">
              <VisibleText text={text} />
            </mark>
          </Show>
        )}
      </For>
      <Show when={isCut()}>
        <button type="button" class="diff-more" onClick={() => setIsWhole(true)}>
          … show {props.text.length - SHOWN_CHARACTERS} more characters
        </button>
      </Show>
    </>
  );
}
