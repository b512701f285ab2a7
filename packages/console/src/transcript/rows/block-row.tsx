import { createEffect, createMemo, Show } from "solid-js";
import remend from "remend";
import type { TranscriptItem } from "../../feed/index.ts";
import { CopyButton } from "../../ui/index.ts";
import { highlightCode } from "../highlight/highlight-code.ts";
import { lexBlock } from "../markdown/lex-blocks.ts";
import { parseFence } from "../markdown/parse-fence.ts";
import { renderTokens } from "../markdown/render-block.ts";
import { useTranscript } from "../transcript-context.ts";
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
    </div>
  );
}

function TextBlock(props: {
  readonly raw: string;
  readonly isTail: boolean;
  readonly links: () => Parameters<typeof lexBlock>[1];
}) {
  let element!: HTMLDivElement;
  createEffect(() => {
    const raw = props.isTail ? remend(props.raw) : props.raw;
    element.replaceChildren(renderTokens(lexBlock(raw, props.links())));
  });
  return <div ref={element} class="md" />;
}

function CodeBlock(props: { readonly raw: string; readonly isTail: boolean }) {
  const fence = createMemo(() => parseFence(props.raw));
  const text = document.createTextNode("");
  createEffect(() => {
    const { code } = fence();
    // Appending keeps the selection and what the browser has laid out.
    if (code.startsWith(text.data)) text.appendData(code.slice(text.data.length));
    else text.data = code;
  });
  highlightCode(text, () => (props.isTail ? undefined : fence()));
  return (
    <figure class="code-block">
      <figcaption>
        <span>{fence().language || "text"}</span>
        <CopyButton text={() => fence().code} label="Copy code" />
      </figcaption>
      <pre tabindex="0" aria-label="Code">
        <code>{text}</code>
      </pre>
    </figure>
  );
}
