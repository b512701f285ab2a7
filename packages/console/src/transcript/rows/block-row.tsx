import { createEffect, createMemo, on, onCleanup, Show } from "solid-js";
import remend from "remend";
import type { TranscriptItem } from "../../feed/index.ts";
import { beforePaint, cancelBeforePaint } from "../../frame/frame-queue.ts";
import { CopyButton } from "../../ui/index.ts";
import { CodeText } from "../../highlight/code-text.ts";
import { highlightCode } from "../../highlight/highlight-code.ts";
import { MARKDOWN_LIMITS } from "../markdown/bounded-lexer.ts";
import { lexBlock } from "../markdown/lex-blocks.ts";
import { parseFence } from "../markdown/parse-fence.ts";
import { RenderedTokens } from "../markdown/rendered-tokens.ts";
import { useTranscript } from "../transcript-context.ts";
import { ItemFlags } from "./item-flags.tsx";
import { loadWholeMessage } from "../whole-message.ts";

/** One Markdown block of a message. */
export function BlockRow(props: { readonly item: TranscriptItem; readonly index: number }) {
  const { blocksOf, view } = useTranscript();
  const blocks = blocksOf(props.item);
  loadWholeMessage(view, props.item, blocks);
  const block = createMemo(() => blocks.block(props.index));
  const isRunning = (): boolean => props.item.status === "running";
  const isTail = (): boolean => isRunning() && props.index === blocks.count() - 1;
  return (
    <div class="row-text" classList={{ "is-last": props.index === blocks.count() - 1 }}>
      <Show
        when={block()?.type === "code"}
        fallback={<TextBlock raw={block()?.raw ?? ""} isTail={isTail()} links={() => blocks.links} />}
      >
        <CodeBlock raw={block()?.raw ?? ""} isTail={isTail()} />
      </Show>
      <Show when={props.index === blocks.count() - 1}>
        <ItemFlags item={props.item} />
      </Show>
    </div>
  );
}

function TextBlock(props: {
  readonly raw: string;
  readonly isTail: boolean;
  readonly links: () => Parameters<typeof lexBlock>[1];
}) {
  const element = document.createElement("div");
  element.className = "md";
  const rendered = new RenderedTokens(element);
  const render = (): void => {
    // Longer texts are shown as they are, so there is nothing to complete.
    const raw =
      props.isTail && props.raw.length <= MARKDOWN_LIMITS.inlineLength ? remend(props.raw) : props.raw;
    rendered.update(lexBlock(raw, props.links()));
  };
  // The first time immediately, because the row is measured. Afterwards at most once per frame.
  createEffect(
    on([() => props.raw, () => props.isTail], (_, previous) => {
      if (previous) beforePaint(render);
      else render();
    }),
  );
  onCleanup(() => cancelBeforePaint(render));
  return element;
}

function CodeBlock(props: { readonly raw: string; readonly isTail: boolean }) {
  const fence = createMemo(() => parseFence(props.raw));
  const text = new CodeText();
  createEffect(() => text.update(fence().code));
  highlightCode(text, () => (props.isTail ? undefined : fence()));
  return (
    <figure class="code-block">
      <figcaption>
        <span>{fence().language || "text"}</span>
        <CopyButton text={() => fence().code} label="Copy code" />
      </figcaption>
      <pre tabindex="0" aria-label="Code">
        {text.element}
      </pre>
    </figure>
  );
}
