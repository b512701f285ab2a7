import { tempFolder, type TempFolder } from "@codexkit/testing";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { openWorkspace } from "../src/workspace/open-workspace.ts";
import type { Workspace } from "../src/workspace/workspace.ts";

export interface WorkspaceFolder {
  /** Contains the workspace's files. */
  readonly root: string;
  /** The parent folder of `root`, for files outside the workspace. */
  readonly parent: string;
  /** Opens a workspace on `root`. */
  readonly openRoot: () => Workspace;
  /** Writes a file in the workspace and returns its absolute path. */
  readonly put: (path: string, text?: string) => string;
  readonly read: (path: string) => string;
}

/** Provides a folder for a workspace's files, which is new and empty in each test of the calling file. */
export function useWorkspaceFolder(name: string): WorkspaceFolder {
  let folder: TempFolder;
  const root = (): string => join(folder.path, "root");
  beforeEach(async () => {
    folder = await tempFolder(name);
    mkdirSync(root());
  });
  afterEach(() => folder[Symbol.asyncDispose]());
  return {
    get root() {
      return root();
    },
    get parent() {
      return folder.path;
    },
    openRoot: () => openWorkspace({ folder: root(), stateRoot: join(folder.path, "state") }),
    put: (path, text = "before") => {
      const absolute = join(root(), path);
      mkdirSync(dirname(absolute), { recursive: true });
      writeFileSync(absolute, text);
      return absolute;
    },
    read: (path) => readFileSync(join(root(), path), "utf8"),
  };
}
