import { execFileSync } from "node:child_process";
import { appendFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFiles } from "../../test/file-fixture.ts";
import type { WatchedFileChange } from "../api/file.ts";
import { FILE_LIMITS } from "./limits.ts";
import { FileWatch, type WatchOptions } from "./watch-files.ts";
import type { AllowedPaths } from "./allowed-paths.ts";

/** Yields the changes of a path one by one. */
async function watching(paths: AllowedPaths, path: string, more: Partial<WatchOptions> = {}) {
  const stop = new AbortController();
  const watch = await FileWatch.open(paths, path, {
    recursive: false,
    limits: { ...FILE_LIMITS, collectMs: 10 },
    name: path,
    signal: stop.signal,
    ...more,
  });
  const changes = watch.changes();
  const opening = await changes.next();
  return {
    opening: opening.value as WatchedFileChange,
    /** Merges changes until one contains the path. */
    until: async (wanted: string): Promise<string[]> => {
      const seen = new Set<string>();
      for await (const change of { [Symbol.asyncIterator]: () => ({ next: () => changes.next() }) }) {
        if (change.type !== "changed") throw new Error(`Unexpected: ${change.type}.`);
        for (const changed of change.paths) seen.add(changed);
        if (seen.has(wanted)) return [...seen].toSorted();
      }
      throw new Error(`${wanted} was not reported.`);
    },
    next: async (): Promise<WatchedFileChange | undefined> =>
      (await changes.next()).value as WatchedFileChange | undefined,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await watch[Symbol.asyncDispose]();
    },
  };
}

test("reports changes of a folder's entries, but not of those below", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  await mkdir(join(root, "folder"));
  await using watch = await watching(paths, root);
  expect(watch.opening).toEqual({ type: "watching", path: root, folders: 1, isComplete: true });
  await writeFile(join(root, "folder", "deep"), "");
  await writeFile(join(root, "new"), "");
  expect(await watch.until(join(root, "new"))).toEqual([join(root, "new")]);
  await appendFile(join(root, "file"), "more");
  await rm(join(root, "new"));
  expect(await watch.until(join(root, "new"))).toEqual([join(root, "file"), join(root, "new")]);
});

test("reports changes of a file, also when it is replaced", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  const file = join(root, "file");
  await symlink("file", join(root, "link"));
  await using watch = await watching(paths, join(root, "link"));
  expect(watch.opening).toMatchObject({ path: file });
  await writeFile(join(root, "other"), "");
  for (const turn of ["first", "second"]) {
    await writeFile(join(root, "temporary"), turn);
    await rename(join(root, "temporary"), file);
    expect(await watch.until(file)).toEqual([file]);
  }
});

test("watches subfolders, including new ones, but not links and large generated folders", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  await mkdir(join(root, "a", "b"), { recursive: true });
  await mkdir(join(root, "node_modules", "x"), { recursive: true });
  await symlink(outside, join(root, "out"));
  await using watch = await watching(paths, root, { recursive: true });
  expect(watch.opening).toMatchObject({ folders: 3, isComplete: true });
  await writeFile(join(outside, "secret"), "changed");
  await writeFile(join(root, "node_modules", "x", "y"), "");
  await writeFile(join(root, "a", "b", "c"), "");
  expect(await watch.until(join(root, "a", "b", "c"))).toEqual([join(root, "a", "b", "c")]);
  await mkdir(join(root, "a", "new"));
  await watch.until(join(root, "a", "new"));
  await writeFile(join(root, "a", "new", "file"), "");
  await watch.until(join(root, "a", "new", "file"));
});

test("reports if there are more folders or changes than the limit", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  for (const name of ["a", "b", "c", "d"]) await mkdir(join(root, name));
  const limits = { ...FILE_LIMITS, collectMs: 10, watchedFolders: 3, changedPaths: 5 };
  await using watch = await watching(paths, root, { recursive: true, limits });
  expect(watch.opening).toMatchObject({ folders: 3, isComplete: false });
  execFileSync("sh", ["-c", "for i in $(seq 50); do echo > f$i; done"], { cwd: root });
  expect(await watch.next()).toEqual({ type: "overflow", path: root });
  await writeFile(join(root, "after"), "");
  expect(await watch.until(join(root, "after"))).toContain(join(root, "after"));
});

test("ends when its path was moved, and reports nothing from the new place", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  const folder = join(root, "folder");
  await mkdir(folder);
  await using watch = await watching(paths, folder);
  await rename(folder, join(outside, "folder"));
  await writeFile(join(outside, "folder", "private"), "");
  expect(await watch.next()).toEqual({ type: "ended", path: folder });
  expect(await watch.next()).toBeUndefined();
});

test("a subfolder that was moved elsewhere is no longer reported", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  await mkdir(join(root, "a"));
  await using watch = await watching(paths, root, { recursive: true });
  await rename(join(root, "a"), join(outside, "a"));
  await watch.until(join(root, "a"));
  await writeFile(join(outside, "a", "private"), "");
  await writeFile(join(root, "last"), "");
  expect(await watch.until(join(root, "last"))).toEqual([join(root, "last")]);
});

test("rejects what can't be watched", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  execFileSync("mkfifo", [join(root, "pipe")]);
  await expect(watching(paths, outside)).rejects.toMatchObject({ code: "file_not_found" });
  await expect(watching(paths, join(root, "pipe"))).rejects.toMatchObject({ code: "wrong_file_type" });
});

test("a folder that replaces another one is watched", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  await mkdir(join(root, "a"));
  await using watch = await watching(paths, root, { recursive: true });
  await rename(join(root, "a"), join(outside, "a"));
  await mkdir(join(root, "a"));
  await watch.until(join(root, "a"));
  await writeFile(join(root, "a", "file"), "");
  await watch.until(join(root, "a", "file"));
});
