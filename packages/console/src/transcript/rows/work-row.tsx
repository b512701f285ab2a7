import { For, Show } from "solid-js";
import type { ThreadItemOf, TranscriptItem } from "../../feed/index.ts";
import { formatDuration, Icon } from "../../ui/index.ts";
import { useTranscript } from "../transcript-context.ts";
import { CommandRow } from "./command-row.tsx";

/** Commands that only read, grouped into one line. */
export function WorkRow(props: { readonly rowKey: string; readonly items: readonly TranscriptItem[] }) {
  const { isOpen, setOpen } = useTranscript();
  const open = (): boolean => isOpen(props.rowKey);
  return (
    <div class="row-work">
      <button
        type="button"
        class="row-head fold"
        aria-expanded={open()}
        onClick={() => setOpen(props.rowKey, !open())}
      >
        <Icon name="chevron" class="fold-mark" />
        <span>{describeWork(props.items)}</span>
      </button>
      <Show when={open()}>
        <div class="work-items">
          <For each={props.items}>{(item) => <CommandRow item={item} />}</For>
        </div>
      </Show>
    </div>
  );
}

function describeWork(items: readonly TranscriptItem[]): string {
  const commands = items.map(({ item }) => item as ThreadItemOf<"commandExecution">);
  const actions = commands.flatMap(({ commandActions }) => commandActions);
  const files = new Set(actions.flatMap((action) => (action.type === "read" ? [action.path] : []))).size;
  const searches = actions.filter(({ type }) => type === "search").length;
  const lists = actions.filter(({ type }) => type === "listFiles").length;
  const parts = [
    files > 0 ? `read ${count(files, "file")}` : "",
    searches > 0 ? `searched ${searches === 1 ? "once" : `${searches} times`}` : "",
    lists > 0 ? `listed ${count(lists, "folder")}` : "",
  ].filter((part) => part !== "");
  const time = commands.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0);
  const text = parts.join(", ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${time > 0 ? ` · ${formatDuration(time)}` : ""}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
