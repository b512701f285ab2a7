import { createMemo, For, Show } from "solid-js";
import type { ThreadItemOf, TranscriptItem } from "../../feed/index.ts";
import { CopyButton, Icon } from "../../ui/index.ts";
import { lexBlock } from "../markdown/lex-blocks.ts";
import { renderTokens } from "../markdown/render-block.ts";
import { useTranscript } from "../transcript-context.ts";

/** A message of the person. */
export function UserRow(props: { readonly item: TranscriptItem }) {
  const { view } = useTranscript();
  const message = (): ThreadItemOf<"userMessage"> => props.item.item as ThreadItemOf<"userMessage">;
  const images = createMemo(() =>
    message().content.flatMap((part): { source: string | undefined; name: string }[] => {
      if (part.type === "image" && "url" in part) return [{ source: imageSource(part.url), name: "Image" }];
      if (part.type === "localImage") {
        const path = encodeURIComponent(part.path);
        const source = `/sessions/${encodeURIComponent(view.id)}/files/content?path=${path}`;
        return [
          { source: uploadedSource(view.id, part.path) ?? source, name: part.path.split("/").at(-1) ?? "" },
        ];
      }
      return [];
    }),
  );
  return (
    <div class="row-user">
      <p>{props.item.text}</p>
      <For each={images()}>
        {({ source, name }) => (
          <Show when={source} fallback={<span class="muted">{name}</span>}>
            {(url) => (
              <a href={url()} target="_blank" rel="noopener">
                <img class="thumbnail" src={url()} alt={name} loading="lazy" />
              </a>
            )}
          </Show>
        )}
      </For>
      <CopyButton text={() => props.item.text} label="Copy message" class="row-copy" />
    </div>
  );
}

/** Images of data URLs are not allowed by the page's policy; those of the daemon are. */
function imageSource(url: string): string | undefined {
  if (!url.startsWith("data:image/")) return undefined;
  const [head = "", data = ""] = url.split(",", 2);
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return URL.createObjectURL(
    new Blob([bytes], { type: /^data:(?<type>[^;]+)/.exec(head)?.groups?.["type"] ?? "" }),
  );
}

/** Uploaded images have the hash of their contents as their name. */
function uploadedSource(sessionId: string, path: string): string | undefined {
  const id = /(?:^|\/)(?<id>[0-9a-f]{64})(?:\.\w+)?$/.exec(path)?.groups?.["id"];
  return id === undefined ? undefined : `/sessions/${encodeURIComponent(sessionId)}/images/${id}`;
}

/** A summary of the reasoning: its first line, until it is opened. */
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

/** A short Markdown text as a whole. Long ones are split into rows instead. */
export function MarkdownText(props: { readonly text: string }) {
  const nodes = createMemo(() => [...renderTokens(lexBlock(props.text)).childNodes]);
  return <div class="md">{nodes()}</div>;
}

function firstLine(text: string): string {
  return (text.trimStart().split("\n", 1)[0] ?? "").replaceAll(/[*_`#]+/g, "").trim();
}
