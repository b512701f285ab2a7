import type { FolderEntry } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import { treeRows } from "./file-tree.ts";

const entry = (name: string, type: FolderEntry["type"], change: Partial<FolderEntry> = {}): FolderEntry => ({
  name,
  type,
  bytes: type === "file" ? 5 : null,
  modifiedAt: 0,
  ...change,
});

test("lists folders first, with the contents of open ones below them", () => {
  const folders = new Map([
    [
      ".",
      {
        entries: [
          entry("a.ts", "file"),
          entry("lib", "link", { linksTo: "folder" }),
          entry("out", "link", { linksTo: null }),
          entry("src", "folder"),
        ],
        next: "c",
      },
    ],
    ["src", { entries: [entry("b.ts", "file")], next: null }],
  ]);
  const rows = treeRows(folders, new Set(["src", "lib", "a.ts"]));
  expect(rows.map((row) => `${row.type} ${row.path} ${row.depth}`)).toEqual([
    "entry lib 0",
    "loading lib 1",
    "entry src 0",
    "entry src/b.ts 1",
    "entry a.ts 0",
    "entry out 0",
    "more . 0",
  ]);
});
