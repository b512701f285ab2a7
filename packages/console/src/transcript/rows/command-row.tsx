import { splitShell } from "@codexkit/daemon/client";
import { createMemo, Show } from "solid-js";
import type { ThreadItemOf, TranscriptItem } from "../../feed/index.ts";
import { CopyButton, Elapsed, formatDuration, Icon, visibleText } from "../../ui/index.ts";
import { useTranscript } from "../transcript-context.ts";
import { OutputViewer } from "./output-viewer.tsx";
import { outputTail } from "./output-tail.ts";

const LINES = 8;

/** A command with its exit code and the end of its output. */
export function CommandRow(props: { readonly item: TranscriptItem }) {
  const { isOpen, setOpen } = useTranscript();
  const command = (): ThreadItemOf<"commandExecution"> => props.item.item as ThreadItemOf<"commandExecution">;
  const tail = createMemo(() => outputTail(props.item.text, LINES));
  const hasMore = (): boolean => tail().hidden > 0 || props.item.truncated["/aggregatedOutput"] !== undefined;
  const open = (): boolean => isOpen(props.item.key);
  return (
    <div class="row-command" data-status={props.item.status}>
      <div class="row-head">
        <Icon name="terminal" />
        <code class="command-line">{visibleText(splitShell(command().command).script)}</code>
        <span class="row-meta">
          <CommandStatus item={props.item} command={command()} />
          <CopyButton text={() => command().command} label="Copy command" />
        </span>
      </div>
      <Show when={props.item.text !== ""}>
        <Show
          when={open()}
          fallback={
            <pre class="output" tabindex="0" aria-label="Output">
              {tail().text}
            </pre>
          }
        >
          <OutputViewer item={props.item} />
        </Show>
        <Show when={hasMore() || open()}>
          <button
            type="button"
            class="link-button"
            aria-expanded={open()}
            onClick={() => setOpen(props.item.key, !open())}
          >
            {open()
              ? "Show the last lines"
              : `Show all output${tail().hidden > 0 ? ` (${tail().hidden} more lines)` : ""}`}
          </button>
        </Show>
      </Show>
    </div>
  );
}

function CommandStatus(props: {
  readonly item: TranscriptItem;
  readonly command: ThreadItemOf<"commandExecution">;
}) {
  return (
    <Show when={props.item.status !== "running"} fallback={<Running startedAt={props.command.startedAtMs} />}>
      <Show
        when={props.item.status !== "abandoned"}
        fallback={<span class="tone-warn">outcome unknown</span>}
      >
        <Show when={props.command.status !== "declined"} fallback={<span class="tone-danger">declined</span>}>
          <span
            classList={{
              "tone-danger": props.command.exitCode !== 0,
              "tone-ok": props.command.exitCode === 0,
            }}
          >
            {props.command.exitCode === null ? props.command.status : `exit ${props.command.exitCode}`}
          </span>
        </Show>
      </Show>
      <Show when={props.command.durationMs}>{(ms) => <span>{formatDuration(ms())}</span>}</Show>
    </Show>
  );
}

function Running(props: { readonly startedAt: number | null | undefined }) {
  return (
    <span class="tone-accent">
      running
      <Show when={props.startedAt}>
        {(at) => (
          <>
            {" "}
            <Elapsed since={at()} />
          </>
        )}
      </Show>
    </span>
  );
}
