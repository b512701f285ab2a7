import { createMemo, For, Show } from "solid-js";
import type { ThreadItemOf, TranscriptItem } from "../../feed/index.ts";
import { Icon, visibleText } from "../../ui/index.ts";
import { useTranscript } from "../transcript-context.ts";
import { countLines } from "./count-lines.ts";

/** Changed files with their numbers of lines. The diff is in the panel. */
export function PatchRow(props: { readonly item: TranscriptItem }) {
  const { openPanel } = useTranscript();
  const patch = (): ThreadItemOf<"fileChange"> => props.item.item as ThreadItemOf<"fileChange">;
  const stats = createMemo(() => patch().changes.map((change) => ({ change, ...countLines(change) })));
  const total = (name: "added" | "removed"): number =>
    stats().reduce((sum, { [name]: lines }) => sum + lines, 0);
  return (
    <div class="row-patch" data-status={props.item.status}>
      <div class="row-head">
        <Icon name="pencil" />
        <span>
          {patch().changes.length === 1 ? "1 file" : `${patch().changes.length} files`}{" "}
          <LineCounts added={total("added")} removed={total("removed")} />
        </span>
        <span class="row-meta">
          <Show when={statusText(patch().status)}>
            {(text) => (
              <span class={patch().status === "inProgress" ? "tone-accent" : "tone-danger"}>{text()}</span>
            )}
          </Show>
          <button type="button" class="link-button" onClick={() => openPanel("diff")}>
            Diff
          </button>
        </span>
      </div>
      <ul class="patch-files">
        <For each={stats()}>
          {({ change, added, removed }) => (
            <li>
              <span class="file-kind" data-kind={change.kind.type} title={change.kind.type}>
                {change.kind.type.charAt(0).toUpperCase()}
              </span>
              <span class="file-path">{visibleText(change.path)}</span>
              <LineCounts added={added} removed={removed} />
            </li>
          )}
        </For>
      </ul>
    </div>
  );
}

function LineCounts(props: { readonly added: number; readonly removed: number }) {
  return (
    <span class="line-counts">
      <span class="tone-ok">+{props.added}</span> <span class="tone-danger">−{props.removed}</span>
    </span>
  );
}

function statusText(status: ThreadItemOf<"fileChange">["status"]): string | undefined {
  switch (status) {
    case "inProgress":
      return "applying";
    case "failed":
    case "declined":
      return status;
    default:
      return undefined;
  }
}
