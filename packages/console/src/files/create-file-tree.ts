import type { SessionFiles } from "@codexkit/daemon/client";
import { createMemo, createSignal } from "solid-js";
import { explainError } from "../settings/explain-error.ts";
import { type LoadedFolder, treeRows } from "./file-tree.ts";

const PAGE = 500;

/** The tree of a session's files. Folders are loaded when they are opened. */
export function createFileTree(files: SessionFiles) {
  const [folders, setFolders] = createSignal<ReadonlyMap<string, LoadedFolder>>(new Map());
  const [open, setOpen] = createSignal<ReadonlySet<string>>(new Set());
  const [problem, setProblem] = createSignal<string>();

  const load = async (path: string, cursor?: string): Promise<void> => {
    try {
      const page = await files.list(path, { limit: PAGE, ...(cursor !== undefined && { cursor }) });
      const before = cursor === undefined ? [] : (folders().get(path)?.entries ?? []);
      setFolders(new Map(folders()).set(path, { entries: [...before, ...page.data], next: page.next }));
      setProblem(undefined);
    } catch (error) {
      setProblem(explainError(error));
      setOpen((known) => new Set([...known].filter((candidate) => candidate !== path)));
    }
  };

  void load(".");
  return {
    rows: createMemo(() => treeRows(folders(), open())),
    problem,
    loadMore: load,
    toggle: (path: string): void => {
      const next = new Set(open());
      if (!next.delete(path)) {
        next.add(path);
        if (!folders().has(path)) void load(path);
      }
      setOpen(next);
    },
    refresh: (): void => {
      for (const path of [".", ...open()]) void load(path);
    },
  };
}

export type FileTree = ReturnType<typeof createFileTree>;
