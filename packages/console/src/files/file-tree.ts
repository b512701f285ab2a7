import type { FolderEntry } from "@codexkit/daemon/client";

/** The loaded part of a folder. */
export interface LoadedFolder {
  readonly entries: readonly FolderEntry[];
  /** Cursor for the entries that are not loaded yet. */
  readonly next: string | null;
}

/** A visible row of the tree. */
export type TreeRow =
  | {
      readonly type: "entry";
      readonly path: string;
      readonly name: string;
      readonly depth: number;
      readonly kind: FolderEntry["type"];
      readonly isFolder: boolean;
      readonly isOpen: boolean;
      readonly bytes: number | null;
    }
  | { readonly type: "more"; readonly path: string; readonly depth: number; readonly cursor: string }
  | { readonly type: "loading"; readonly path: string; readonly depth: number };

/** The rows of a tree: folders first, then files, with the contents of open folders below them. */
export function treeRows(
  folders: ReadonlyMap<string, LoadedFolder>,
  open: ReadonlySet<string>,
  root = ".",
  depth = 0,
): readonly TreeRow[] {
  const folder = folders.get(root);
  if (!folder) return [{ type: "loading", path: root, depth }];
  const rows: TreeRow[] = [];
  for (const entry of folder.entries.toSorted(foldersFirst)) {
    const path = joinPath(root, entry.name);
    const isFolder = opensAsFolder(entry);
    const isOpen = isFolder && open.has(path);
    rows.push({
      type: "entry",
      path,
      name: entry.name,
      depth,
      kind: entry.type,
      isFolder,
      isOpen,
      bytes: entry.bytes,
    });
    if (isOpen) rows.push(...treeRows(folders, open, path, depth + 1));
  }
  if (folder.next !== null) rows.push({ type: "more", path: root, depth, cursor: folder.next });
  return rows;
}

export function joinPath(folder: string, name: string): string {
  return folder === "." ? name : `${folder}/${name}`;
}

function opensAsFolder({ type, linksTo }: FolderEntry): boolean {
  return type === "folder" || (type === "link" && linksTo === "folder");
}

function foldersFirst(a: FolderEntry, b: FolderEntry): number {
  return Number(opensAsFolder(b)) - Number(opensAsFolder(a));
}
