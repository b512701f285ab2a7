import { createMemo, createSignal, For, type JSX, onMount, Show } from "solid-js";
import { VisibleText } from "../ui/visible-text-view.tsx";
import { languageOf } from "../highlight/language-of.ts";
import { DiffLayout, type LayoutEntry } from "./diff-layout.ts";
import { DiffLine } from "./diff-line.tsx";
import type { DiffRow } from "./diff-rows.ts";
import { loadWordCompare, wordsOf } from "./load-words.ts";
import type { DiffFile, ParsedDiff } from "./parse-diff.ts";
import { createVirtualRows } from "./virtual-rows.ts";
import "./diff.css";

/** Heights of a row that is not wrapped and of the heading of a file, in pixels, as in diff.css. */
const ROW_HEIGHT = 20;
const FILE_HEIGHT = 36;

/** A line of the diff that was clicked. */
export interface LineTarget {
  readonly file: DiffFile;
  /** Index of the row. */
  readonly row: number;
  readonly side: "old" | "new";
  readonly line: number;
  readonly code: string;
}

/** The operations of the view that a panel can call. */
export interface DiffNavigation {
  readonly moveHunk: (step: 1 | -1) => void;
  readonly moveFile: (step: 1 | -1) => void;
  readonly moveLine: (step: 1 | -1) => void;
  readonly scrollToFile: (file: number) => void;
  /** The file that is at the top or has the cursor. */
  readonly currentFile: () => number;
  readonly currentLine: () => LineTarget | undefined;
  readonly focus: () => void;
}

export interface DiffViewProps {
  readonly diff: ParsedDiff;
  /** Name of the region. */
  readonly label: string;
  readonly isWrapped?: boolean;
  readonly isSplit?: boolean;
  /** Indexes of files whose rows are hidden. */
  readonly collapsed: ReadonlySet<number>;
  readonly onToggleFile: (file: number) => void;
  /** Renders the right part of a file's heading. */
  readonly fileActions?: (file: number) => JSX.Element;
  /** Called with the line to comment on. Without it, comments are not possible. */
  readonly onComment?: (target: LineTarget) => void;
  /** Renders the comments below a line. */
  readonly belowLine?: (target: LineTarget) => JSX.Element;
  readonly onReady?: (navigation: DiffNavigation) => void;
}

/** The rows of a diff. Only visible rows are in the document. */
export function DiffView(props: DiffViewProps) {
  let scroller!: HTMLDivElement;
  const layout = createMemo(
    () => new DiffLayout(props.diff, { collapsed: props.collapsed, isSplit: props.isSplit === true }),
  );
  const rows = createVirtualRows({
    count: () => layout().count,
    layout: () => [layout(), props.isWrapped],
    scroller: () => scroller,
    estimateHeight: (position) => (layout().isFile(position) ? FILE_HEIGHT : ROW_HEIGHT),
  });
  const [cursor, setCursor] = createSignal(0);
  const [hovered, setHovered] = createSignal(-1);

  onMount(() => {
    void loadWordCompare();
    props.onReady?.({
      moveHunk: (step) => moveTo(layout().nextHunk(cursor(), step)),
      moveFile: (step) => moveTo(layout().nextFile(cursor(), step)),
      moveLine: (step) => moveTo(cursor() + step, "auto"),
      scrollToFile: (file) => moveTo(layout().positionOfFile(file)),
      currentFile: () => layout().fileAt(cursor()),
      currentLine: () => targetOf(layout().at(cursor())),
      focus: () => scroller.focus(),
    });
  });

  function moveTo(position: number | undefined, align: "start" | "auto" = "start"): void {
    if (position === undefined || position < 0 || position >= layout().count) return;
    setCursor(position);
    rows.scrollTo(position, align);
  }

  function targetOf(entry: LayoutEntry): LineTarget | undefined {
    const file = props.diff.files[entry.file];
    if (entry.type === "file" || !file) return undefined;
    const row = entry.right === -1 ? entry.left : entry.right;
    const { kind, text, oldLine, newLine } = props.diff.rows.at(row);
    if (kind === "hunk" || kind === "note") return undefined;
    const side = kind === "removed" ? "old" : "new";
    return { file, row, side, line: side === "old" ? oldLine : newLine, code: text };
  }

  return (
    <div
      class="diff-scroller"
      classList={{ "diff-wrapped": props.isWrapped === true, "diff-split": props.isSplit === true }}
      ref={(element) => {
        scroller = element;
      }}
      tabindex="0"
      role="group"
      aria-label={props.label}
      style={{ "--diff-height": `${rows.height()}px` }}
      onPointerLeave={() => setHovered(-1)}
    >
      <div
        class="diff-table"
        role="table"
        aria-label={props.label}
        aria-rowcount={layout().count}
        style={{ height: `${rows.height()}px` }}
      >
        <div class="diff-rows" role="rowgroup" style={{ transform: `translateY(${rows.offset()}px)` }}>
          <For each={rows.positions()}>
            {(position) => {
              const entry = createMemo(() =>
                position < layout().count ? layout().at(position) : { type: "file" as const, file: 0 },
              );
              const target = createMemo(() => targetOf(entry()));
              return (
                <div
                  class="diff-row"
                  classList={{ "diff-cursor": cursor() === position }}
                  role="row"
                  aria-rowindex={position + 1}
                  data-index={position}
                  ref={(element) => queueMicrotask(() => element.isConnected && rows.observe(element))}
                  onPointerEnter={() => setHovered(position)}
                  onPointerDown={() => setCursor(position)}
                >
                  <EntryCells
                    entry={entry()}
                    diff={props.diff}
                    isSplit={props.isSplit === true}
                    isCollapsed={props.collapsed.has(entry().file)}
                    onToggleFile={props.onToggleFile}
                    fileActions={props.fileActions}
                  />
                  <Show
                    when={props.onComment && (hovered() === position || cursor() === position) && target()}
                  >
                    {(line) => (
                      <button
                        type="button"
                        class="diff-comment-button"
                        tabindex="-1"
                        aria-label={`Comment on line ${line().line}`}
                        onClick={() => props.onComment?.(line())}
                      >
                        +
                      </button>
                    )}
                  </Show>
                  <Show when={target()}>{(line) => props.belowLine?.(line())}</Show>
                </div>
              );
            }}
          </For>
        </div>
      </div>
    </div>
  );
}

const FILE_KINDS = { added: "added", deleted: "deleted", renamed: "renamed", changed: "" } as const;
const SIGNS = { added: "+", removed: "-", context: " ", hunk: "", note: "" } as const;
const SPOKEN = { added: "added", removed: "removed", context: "", hunk: "", note: "" } as const;

function EntryCells(props: {
  readonly entry: LayoutEntry;
  readonly diff: ParsedDiff;
  readonly isSplit: boolean;
  readonly isCollapsed: boolean;
  readonly onToggleFile: (file: number) => void;
  readonly fileActions: ((file: number) => JSX.Element) | undefined;
}) {
  const file = () => props.diff.files[props.entry.file];
  const rowEntry = () => (props.entry.type === "row" ? props.entry : undefined);
  return (
    <Show
      when={rowEntry()}
      fallback={
        <Show when={file()}>
          {(shown) => (
            <div class="diff-file" role="cell">
              <button
                type="button"
                class="diff-file-name"
                aria-expanded={!props.isCollapsed}
                onClick={() => props.onToggleFile(props.entry.file)}
              >
                <FilePath file={shown()} />
              </button>
              <FileCounts file={shown()} />
              {props.fileActions?.(props.entry.file)}
            </div>
          )}
        </Show>
      }
    >
      {(entry) => (
        <Show
          when={props.isSplit && entry().left !== entry().right}
          fallback={<RowCells diff={props.diff} file={file()} row={entry().left} side="both" />}
        >
          <RowCells diff={props.diff} file={file()} row={entry().left} side="old" />
          <RowCells diff={props.diff} file={file()} row={entry().right} side="new" />
        </Show>
      )}
    </Show>
  );
}

/** Whether a row contains code of the file. */
function isCode(kind: DiffRow["kind"]): boolean {
  return kind !== "hunk" && kind !== "note";
}

function RowCells(props: {
  readonly diff: ParsedDiff;
  readonly file: DiffFile | undefined;
  readonly row: number;
  readonly side: "both" | "old" | "new";
}) {
  const row = createMemo((): DiffRow | undefined =>
    props.row < 0 ? undefined : props.diff.rows.at(props.row),
  );
  const words = createMemo(() =>
    props.file && props.row >= 0 ? wordsOf(props.diff.rows, props.file, props.row) : undefined,
  );
  return (
    <div class="diff-cells" role="presentation" data-kind={row()?.kind ?? "empty"} data-side={props.side}>
      <Show when={props.side !== "new"}>
        <span class="diff-number" role="cell">
          {row()?.oldLine || ""}
        </span>
      </Show>
      <Show when={props.side !== "old"}>
        <span class="diff-number" role="cell">
          {row()?.newLine || ""}
        </span>
      </Show>
      <span class="diff-code" role="cell">
        <Show when={row()}>
          {(shown) => (
            <>
              <span class="diff-sign" aria-hidden="true">
                {SIGNS[shown().kind]}
              </span>
              <span class="visually-hidden">{SPOKEN[shown().kind]}</span>
              <DiffLine
                text={shown().text}
                spans={words()}
                language={isCode(shown().kind) ? languageOf(props.file?.path ?? "") : ""}
              />
            </>
          )}
        </Show>
      </span>
    </div>
  );
}

/** The path of a file, and the kind of its change. */
export function FilePath(props: { readonly file: DiffFile }) {
  return (
    <span class="diff-path">
      <Show when={props.file.oldPath}>
        {(oldPath) => (
          <>
            <VisibleText text={oldPath()} /> →{" "}
          </>
        )}
      </Show>
      <VisibleText text={props.file.path || "unnamed file"} />
      <Show when={FILE_KINDS[props.file.kind]}>
        {(kind) => <span class="diff-file-kind"> {kind()}</span>}
      </Show>
      <Show when={props.file.turn}>
        {(turn) => (
          <span class="diff-file-kind">
            {" "}
            · <VisibleText text={turn()} />
          </span>
        )}
      </Show>
    </span>
  );
}

export function FileCounts(props: { readonly file: Pick<DiffFile, "added" | "removed"> }) {
  return (
    <span class="diff-counts">
      <span class="diff-added-count">
        <span aria-hidden="true">+{props.file.added}</span>
        <span class="visually-hidden">{props.file.added} lines added,</span>
      </span>{" "}
      <span class="diff-removed-count">
        <span aria-hidden="true">−{props.file.removed}</span>
        <span class="visually-hidden">{props.file.removed} removed</span>
      </span>
    </span>
  );
}
