import { createEffect, createSignal, Index, type JSX, on } from "solid-js";
import { formatBytes } from "../ui/index.ts";
import type { FileTree } from "./create-file-tree.ts";
import type { TreeRow } from "./file-tree.ts";

/** The files of the session as a tree: arrows move, right opens, left closes, Enter shows. */
export function TreeView(props: {
  readonly tree: FileTree;
  readonly selected: string | undefined;
  readonly onOpen: (path: string) => void;
}): JSX.Element {
  const [focused, setFocused] = createSignal(0);
  let container!: HTMLUListElement;

  const focusRow = (index: number): void => {
    const next = Math.min(Math.max(index, 0), props.tree.rows().length - 1);
    setFocused(next);
    container.querySelectorAll<HTMLElement>('[role="treeitem"]')[next]?.focus();
  };
  createEffect(
    on(
      () => props.tree.rows().length,
      (count) => setFocused((index) => Math.min(index, Math.max(0, count - 1))),
    ),
  );

  const activate = (row: TreeRow | undefined): void => {
    if (row?.type === "more") void props.tree.loadMore(row.path, row.cursor);
    if (row?.type !== "entry") return;
    if (row.isFolder) props.tree.toggle(row.path);
    else props.onOpen(row.path);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const rows = props.tree.rows();
    const row = rows[focused()];
    const isOpen = isOpenFolder(row);
    switch (event.key) {
      case "ArrowDown":
        focusRow(focused() + 1);
        break;
      case "ArrowUp":
        focusRow(focused() - 1);
        break;
      case "Home":
        focusRow(0);
        break;
      case "End":
        focusRow(rows.length - 1);
        break;
      case "ArrowRight":
        if (isFolder(row) && !isOpen) activate(row);
        else if (isOpen) focusRow(focused() + 1);
        break;
      case "ArrowLeft":
        if (isOpen) activate(row);
        else
          focusRow(rows.findLastIndex(({ depth }, index) => index < focused() && depth < (row?.depth ?? 0)));
        break;
      case "Enter":
      case " ":
        activate(row);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <ul
      class="file-tree"
      role="tree"
      aria-label="Files"
      ref={(element) => (container = element)}
      onKeyDown={onKeyDown}
    >
      {/* By position, so that the focus stays while folders are opened and loaded. */}
      <Index each={props.tree.rows()}>
        {(row, index) => (
          <li
            role="treeitem"
            class="tree-row"
            data-depth={Math.min(row().depth, 12)}
            tabindex={index === focused() ? 0 : -1}
            aria-level={row().depth + 1}
            aria-expanded={isFolder(row()) ? isOpenFolder(row()) : undefined}
            aria-selected={row().type === "entry" && row().path === props.selected}
            onClick={() => {
              focusRow(index);
              activate(row());
            }}
          >
            {describe(row())}
            <span class="tree-size">{describeSize(row())}</span>
          </li>
        )}
      </Index>
    </ul>
  );
}

function isFolder(row: TreeRow | undefined): boolean {
  return row?.type === "entry" && row.isFolder;
}

function isOpenFolder(row: TreeRow | undefined): boolean {
  return row?.type === "entry" && row.isOpen;
}

function describeSize(row: TreeRow): string {
  return row.type === "entry" && row.bytes !== null ? formatBytes(row.bytes) : "";
}

function describe(row: TreeRow): JSX.Element {
  if (row.type === "loading") return <span class="muted">Loading…</span>;
  if (row.type === "more") return <span class="muted">Show more</span>;
  return (
    <>
      <span class="tree-mark" aria-hidden="true">
        {row.isFolder ? (row.isOpen ? "▾" : "▸") : ""}
      </span>
      <span class="tree-name">{row.name}</span>
    </>
  );
}
