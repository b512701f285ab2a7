import { createMemo, Show } from "solid-js";
import type { TranscriptItem } from "../../feed/index.ts";
import { CopyButton, Icon } from "../../ui/index.ts";
import { lexBlock } from "../markdown/lex-blocks.ts";
import { renderTokens } from "../markdown/render-block.ts";
import { useTranscript } from "../transcript-context.ts";
import { ItemImages } from "./item-images.tsx";

/** A message of the user. */
export function UserRow(props: { readonly item: TranscriptItem }) {
  return (
    <div class="row-user">
      <p>{props.item.text}</p>
      <ItemImages item={props.item.item} />
      <CopyButton text={() => props.item.text} label="Copy message" class="row-copy" />
    </div>
  );
}

/** A summary of the reasoning. Only the first line is shown until it is expanded. */
export function ReasoningRow(props: { readonly item: TranscriptItem }) {
  const { isOpen, setOpen } = useTranscript();
  const open = (): boolean => isOpen(props.item.key);
  const title = createMemo(() => firstLine(props.item.text) || "Thinking");
  return (
    <div class="row-reasoning">
      <button
        type="button"
        class="row-head fold"
        aria-expanded={open()}
        onClick={() => setOpen(props.item.key, !open())}
      >
        <Icon name="thought" />
        <span class="one-line">{title()}</span>
        <Show when={props.item.status === "running"}>
          <span class="pulse" aria-hidden="true" />
        </Show>
      </button>
      <Show when={open()}>
        <MarkdownText text={props.item.text} />
      </Show>
    </div>
  );
}

/** A plan that Codex proposes as text. */
export function PlanRow(props: { readonly item: TranscriptItem }) {
  return (
    <div class="row-plan">
      <div class="row-head">
        <Icon name="plan" />
        <span>Proposed plan</span>
      </div>
      <MarkdownText text={props.item.text} />
    </div>
  );
}

/** A short Markdown text in one row. Long texts are split into rows instead. */
export function MarkdownText(props: { readonly text: string }) {
  const nodes = createMemo(() => [...renderTokens(lexBlock(props.text)).childNodes]);
  return <div class="md">{nodes()}</div>;
}

function firstLine(text: string): string {
  return (text.trimStart().split("\n", 1)[0] ?? "").replaceAll(/[*_`#]+/g, "").trim();
}
