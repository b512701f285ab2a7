import {
  createComputed,
  createEffect,
  createMemo,
  createRoot,
  createSignal,
  on,
  onCleanup,
  onMount,
  Show,
} from "solid-js";
import type { SessionView, TranscriptItem } from "../feed/index.ts";
import { useKeys } from "../keys/index.ts";
import { hashTarget } from "../routing/index.ts";
import { announce, Icon, type ListSnapshot, VirtualList, type VirtualListHandle } from "../ui/index.ts";
import { buildRows, type Row } from "./build-rows.ts";
import { estimateHeight } from "./estimate-height.ts";
import { MessageBlocks } from "./message-blocks.ts";
import { warmUpMarkdown } from "./markdown/warm-up.ts";
import { RowView } from "./rows/row-view.tsx";
import { TranscriptContext } from "./transcript-context.ts";
import "./transcript.css";
import "./markdown/markdown.css";

/** The last scroll position of each transcript. */
const places = new Map<string, ListSnapshot>();
const KEPT_PLACES = 8;
/** Beyond this many loaded entries, the item of a link is not searched any further, because it may not exist. */
const LONGEST_SEARCH = 4_000;

export interface TranscriptProps {
  readonly view: SessionView;
  readonly openPanel: (id: string) => void;
  /** Moves the focus to the composer. */
  readonly focusComposer?: () => void;
  readonly handle?: (handle: VirtualListHandle) => void;
}

/** The conversation: items, approvals and notices in one virtual list. */
export function Transcript(props: TranscriptProps) {
  const { view } = props;
  const [openKeys, setOpenKeys] = createSignal<ReadonlySet<string>>(new Set());
  const [isPinned, setPinned] = createSignal(places.get(view.id)?.isPinned ?? true);
  const [seenRows, setSeenRows] = createSignal(0);
  let list: VirtualListHandle | undefined;
  let region!: HTMLDivElement;

  const messages = new Map<string, { readonly blocks: MessageBlocks; readonly dispose: () => void }>();
  onCleanup(() => {
    for (const { dispose } of messages.values()) dispose();
  });
  const blocksOf = (item: TranscriptItem): MessageBlocks => {
    let message = messages.get(item.key);
    if (!message) {
      message = createRoot((dispose) => {
        const blocks = new MessageBlocks();
        createComputed(() => blocks.update(item.text));
        return { blocks, dispose };
      });
      messages.set(item.key, message);
    }
    return message.blocks;
  };

  /** Removes the blocks of messages that the view has dropped. */
  const removeDropped = (): void => {
    const kept = new Set(view.entries().map(({ key }) => key));
    for (const [key, { dispose }] of messages) {
      if (kept.has(key)) continue;
      dispose();
      messages.delete(key);
    }
  };

  // The session's summary changes with every event.
  const threadId = createMemo(() => view.session()?.threadId ?? null);
  let known = new Map<string, Row>();
  const rows = createMemo(() => {
    if (messages.size > view.entries().length) removeDropped();
    const built = buildRows(
      {
        entries: view.entries(),
        turns: view.turns(),
        approvals: view.approvals(),
        threadId: threadId(),
        blockCount: (item) => blocksOf(item).count(),
        hasOlder: view.hasOlder(),
      },
      known,
    );
    known = new Map(built.map((row) => [row.key, row]));
    return built;
  });

  createEffect(
    on([rows, isPinned], ([current, pinned]) => {
      if (pinned) setSeenRows(current.length);
    }),
  );
  createEffect(() => view.keepOlder(!isPinned()));
  onCleanup(() => view.keepOlder(false));
  announceChanges(view);
  onMount(warmUpMarkdown);

  onCleanup(() => {
    if (!list) return;
    places.delete(view.id);
    places.set(view.id, list.snapshot());
    for (const id of [...places.keys()].slice(0, -KEPT_PLACES)) places.delete(id);
  });

  // A deep link: loads the page of the item, scrolls to it and marks it for a moment.
  createEffect(() => {
    const target = hashTarget();
    if (target === "" || view.status() !== "ready") return;
    void revealItem(target);
  });

  async function revealItem(itemId: string): Promise<void> {
    const find = (): Row | undefined =>
      rows().find((row) => (row.kind === "item" || row.kind === "block") && row.item.id === itemId) ??
      rows().find((row) => row.key === itemId);
    for (let count = -1; !find() && view.hasOlder() && view.entries().length > count;) {
      if (view.entries().length > LONGEST_SEARCH || hashTarget() !== itemId) return;
      count = view.entries().length;
      await view.loadOlder();
    }
    const row = find();
    const element = row && (await list?.reveal(row.key, "start"));
    if (!element) return;
    element.classList.add("is-target");
    setTimeout(() => element.classList.remove("is-target"), 2_000);
  }

  /** The row that receives the focus with the next frame. A key that is pressed earlier already moves from this row. */
  let focusing: { readonly key: string; readonly focused: Promise<void> } | undefined;
  const currentIndex = (): number => {
    const key = focusing?.key ?? document.activeElement?.closest<HTMLElement>(".virtual-row")?.dataset["key"];
    if (key !== undefined) return rows().findIndex((row) => row.key === key);
    const first = list?.visibleKeys()[0];
    return rows().findIndex((row) => row.key === first) - 1;
  };
  const focusRow = async (index: number): Promise<void> => {
    const row = rows()[Math.max(0, Math.min(index, rows().length - 1))];
    if (!row) return;
    const focus = async (): Promise<void> => {
      const element = await list?.reveal(row.key);
      if (focusing?.key === row.key) element?.focus({ preventScroll: true });
    };
    const focused = focus().finally(() => {
      if (focusing?.focused === focused) focusing = undefined;
    });
    focusing = { key: row.key, focused };
    await focused;
  };
  const focusNext = (step: 1 | -1, matches: (row: Row) => boolean): void => {
    for (let index = currentIndex() + step; index >= 0 && index < rows().length; index += step) {
      const row = rows()[index];
      if (row && matches(row)) {
        void focusRow(index);
        return;
      }
    }
  };
  useKeys("transcript", {
    "transcript.next": () => focusRow(currentIndex() + 1),
    "transcript.previous": () => focusRow(currentIndex() - 1),
    "transcript.nextTurn": () => focusNext(1, (row) => row.kind === "turn"),
    "transcript.previousTurn": () => focusNext(-1, (row) => row.kind === "turn"),
    "transcript.lastMessage": () => {
      const index = rows().findLastIndex((row) => row.kind === "item" && row.item.kind === "userMessage");
      if (index !== -1) void focusRow(index);
    },
    "transcript.toggle": async () => {
      await focusing?.focused;
      const row = document.activeElement?.closest(".virtual-row");
      row?.querySelector<HTMLElement>("[aria-expanded]")?.click();
    },
    "transcript.copy": () => {
      const row = rows()[currentIndex()];
      const text = row && "item" in row ? row.item.text : document.activeElement?.textContent;
      if (text) void navigator.clipboard?.writeText(text).then(() => announce("Copied"));
    },
    "transcript.fork": async () => {
      const end = rows().find((row, index) => row.kind === "footer" && index >= currentIndex());
      const footer = end && (await list?.reveal(end.key));
      footer?.querySelector<HTMLElement>("[data-fork]")?.click();
    },
    "transcript.follow": () => list?.scrollToEnd(),
    "transcript.compose": () => props.focusComposer?.(),
  });

  return (
    <TranscriptContext.Provider
      value={{
        view,
        blocksOf,
        isOpen: (key) => openKeys().has(key),
        setOpen: (key, isOpen) =>
          setOpenKeys((keys) => {
            const next = new Set(keys);
            if (isOpen) next.add(key);
            else next.delete(key);
            return next;
          }),
        openPanel: (id) => props.openPanel(id),
      }}
    >
      <div class="transcript" ref={region} data-seq={view.lastSeq()}>
        <Show when={view.status() === "loading"}>
          <TranscriptSkeleton />
        </Show>
        <Show when={view.hasOlderFailed()}>
          <p class="transcript-limit" role="alert">
            Older rows could not be loaded.{" "}
            <button type="button" class="link-button" onClick={() => void view.loadOlder()}>
              Try again
            </button>
          </p>
        </Show>
        <Show when={view.textLimit() !== "none"}>
          <p class="transcript-limit" role="note">
            This page holds a limited number of rows and up to 32 MB of text of a session.{" "}
            {view.textLimit() === "full"
              ? "Go to the end before you load more."
              : "Older rows were dropped and are loaded again when you scroll up."}
          </p>
        </Show>
        <VirtualList
          rows={rows()}
          estimate={(row) =>
            estimateHeight(row, row.kind === "block" ? blocksOf(row.item).block(row.index) : undefined)
          }
          followsEnd
          role="log"
          label="Transcript"
          class="transcript-list"
          {...(places.has(view.id) && { initial: places.get(view.id) as ListSnapshot })}
          handle={(handle) => {
            list = handle;
            props.handle?.(handle);
          }}
          onNearStart={() => {
            if (view.hasOlder() && !view.hasOlderFailed()) void view.loadOlder();
          }}
          onPinnedChange={setPinned}
          footer={<div class="transcript-end" />}
        >
          {(row) => <RowView row={row} />}
        </VirtualList>
        <Show when={!isPinned()}>
          <button type="button" class="button follow-button" onClick={() => list?.scrollToEnd()}>
            <Icon name="arrowDown" />
            {rows().length > seenRows() ? `${rows().length - seenRows()} new` : "Latest"}
          </button>
        </Show>
      </div>
    </TranscriptContext.Provider>
  );
}

/** A placeholder with rows of realistic heights. It appears with a delay, and most sessions load faster. */
function TranscriptSkeleton() {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading the session</span>
      <div />
      <div />
      <div />
      <div />
    </div>
  );
}

/** Announces changes to screen readers. The log itself is silent, because it changes many times per second. */
function announceChanges(view: SessionView): void {
  const newest = createMemo(() => {
    const turn = view.turns().findLast(({ threadId }) => threadId === view.session()?.threadId);
    return turn && `${turn.id} ${turn.status}`;
  });
  createEffect(
    on(newest, (state, previous) => {
      if (!state || !previous || state === previous) return;
      const status = state.split(" ")[1];
      if (status === "running") announce("Codex is working");
      else if (status === "completed") {
        const files = view.turns().at(-1)?.diffStat?.files ?? 0;
        announce(files > 0 ? `Codex finished, ${files} files changed` : "Codex finished");
      } else announce(`The turn ${status === "failed" ? "failed" : "was interrupted"}`);
    }),
  );
  const open = createMemo(
    () => view.approvals().filter(({ state }) => state === "open" || state === "parked").length,
  );
  createEffect(
    on(open, (count, previous = 0) => {
      if (count > previous) announce(count === 1 ? "Approval needed" : `${count} approvals needed`);
    }),
  );
}
