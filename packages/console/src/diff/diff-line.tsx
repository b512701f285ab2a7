import { createEffect, createMemo, createSignal, For, onCleanup, Show } from "solid-js";
import type { CodeToken } from "../highlight/find-tokens.ts";
import { requestTokens } from "../highlight/request-tokens.ts";
import { VisibleText } from "../ui/visible-text-view.tsx";
import { colourSpans } from "./colour-spans.ts";
import type { WordSpan } from "./word-diff.ts";

/** Number of characters of a line that are rendered initially. Lines of generated files can have millions. */
const SHOWN_CHARACTERS = 2_000;

/** The text of a line with syntax colours and marked changes. A very long text is truncated, with a button for the rest. */
export function DiffLine(props: {
  readonly text: string;
  readonly spans: readonly WordSpan[] | undefined;
  /** Empty for no colours. */
  readonly language: string;
}) {
  const [isWhole, setIsWhole] = createSignal(false);
  const isCut = () => props.text.length > SHOWN_CHARACTERS && !isWhole();
  const spans = createMemo((): readonly WordSpan[] => {
    if (props.spans) return props.spans;
    return [{ text: isCut() ? props.text.slice(0, SHOWN_CHARACTERS) : props.text, isChanged: false }];
  });
  const [tokens, setTokens] = createSignal<readonly CodeToken[]>([]);
  createEffect(() => {
    const { text, language } = props;
    setTokens([]);
    if (language === "" || text.length > SHOWN_CHARACTERS || !/\w/.test(text)) return;
    onCleanup(requestTokens(text, language, setTokens));
  });
  const parts = createMemo(() => colourSpans(spans(), tokens()));
  return (
    <>
      <For each={parts()}>
        {({ text, isChanged, colour }) => {
          const code = <VisibleText text={text} />;
          const coloured = colour === undefined ? code : <span class={`code-${colour}`}>{code}</span>;
          return isChanged ? <mark class="diff-word">{coloured}</mark> : coloured;
        }}
      </For>
      <Show when={isCut()}>
        <button type="button" class="diff-more" onClick={() => setIsWhole(true)}>
          … show {props.text.length - SHOWN_CHARACTERS} more characters
        </button>
      </Show>
    </>
  );
}
