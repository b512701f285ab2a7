import { createMemo, type JSX, Show } from "solid-js";
import type { ThreadItem, TranscriptItem } from "../../feed/index.ts";
import { formatDuration, Icon, type IconName, visibleText } from "../../ui/index.ts";
import { useTranscript } from "../transcript-context.ts";
import { ItemImages } from "./item-images.tsx";
import { MarkdownText } from "./message-rows.tsx";

/** An item that is neither a message, a command nor a patch, as one line that can be expanded. */
export function ToolRow(props: { readonly item: TranscriptItem }) {
  const { isOpen, setOpen } = useTranscript();
  const summary = createMemo(() => describe(props.item.item));
  const open = (): boolean => isOpen(props.item.key);
  return (
    <div class="row-tool" data-status={props.item.status}>
      <button
        type="button"
        class="row-head fold"
        aria-expanded={open()}
        onClick={() => setOpen(props.item.key, !open())}
      >
        <Icon name={summary().icon} />
        <span class="one-line">
          {summary().title} <span class="muted">{summary().detail}</span>
        </span>
        <span class="row-meta">
          <Show when={props.item.status === "failed"}>
            <span class="tone-danger">failed</span>
          </Show>
          <Show when={props.item.status === "running"}>
            <span class="tone-accent">running</span>
          </Show>
          <Show when={props.item.status === "abandoned"}>
            <span class="tone-warn">outcome unknown</span>
          </Show>
          <Show when={durationOf(props.item.item)}>{(ms) => <span>{formatDuration(ms())}</span>}</Show>
        </span>
      </button>
      <ItemImages item={props.item.item} />
      <Show when={open()}>
        <Details item={props.item.item} />
      </Show>
    </div>
  );
}

/** A line without details, such as a compaction. */
export function LineRow(props: { readonly children: JSX.Element }) {
  return <p class="row-line">{props.children}</p>;
}

function Details(props: { readonly item: ThreadItem }) {
  const message = (): string | undefined => {
    const { item } = props;
    if (item.type === "collabAgentToolCall") return item.prompt ?? undefined;
    if (item.type === "exitedReviewMode") return item.review;
    return undefined;
  };
  return (
    <Show
      when={message()}
      fallback={
        <pre class="output" tabindex="0" aria-label="Details">
          {visibleText(JSON.stringify(props.item, undefined, 2))}
        </pre>
      }
    >
      {(text) => <MarkdownText text={text()} />}
    </Show>
  );
}

interface ToolSummary {
  readonly icon: IconName;
  readonly title: string;
  readonly detail: string;
}

function describe(item: ThreadItem): ToolSummary {
  switch (item.type) {
    case "mcpToolCall":
      return { icon: "tool", title: `${item.server} · ${item.tool}`, detail: brief(item.arguments) };
    case "dynamicToolCall":
      return { icon: "tool", title: item.tool, detail: brief(item.arguments) };
    case "functionCallOutput":
      return { icon: "tool", title: item.name, detail: "" };
    case "webSearch":
      return { icon: "search", title: "Searched the web", detail: item.query };
    case "imageView":
      return { icon: "image", title: "Looked at an image", detail: item.path };
    case "imageGeneration":
      return { icon: "image", title: "Made an image", detail: "" };
    case "collabAgentToolCall":
      return { icon: "agent", title: agentTitle(item.tool), detail: item.prompt ?? "" };
    case "subAgentActivity":
      return { icon: "agent", title: `Agent ${item.agentPath}`, detail: item.kind };
    case "enteredReviewMode":
      return { icon: "search", title: "Review started", detail: item.review };
    case "exitedReviewMode":
      return { icon: "search", title: "Review", detail: firstLine(item.review) };
    case "hookPrompt":
      return { icon: "info", title: "Hook", detail: "" };
    case "sleep":
      return { icon: "clock", title: "Waited", detail: "" };
    default:
      return { icon: "info", title: item.type, detail: "" };
  }
}

function agentTitle(tool: string): string {
  const words = tool.replaceAll(/([A-Z])/g, " $1").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return visibleText(text.length > 160 ? `${text.slice(0, 160)}…` : text);
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0] ?? "";
}

function durationOf(item: ThreadItem): number | undefined {
  return "durationMs" in item ? (item.durationMs ?? undefined) : undefined;
}
