import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFiles, type FileFixture } from "../../test/file-fixture.ts";
import { entityTag } from "./entity-tag.ts";
import { checkReplacement, replaceFile, type Replacement } from "./replace-file.ts";

let count = 0;

async function write(
  { paths, outside, root }: FileFixture,
  path: string,
  text: string,
  more: Partial<Replacement> = {},
): ReturnType<typeof replaceFile> {
  const id = String((count += 1));
  const source = join(outside, `source-${id}`);
  await writeFile(source, text);
  return replaceFile(paths, `${root}/${path}`, { source, id, name: path, ...more });
}

const tagOf = async (path: string): Promise<string> => entityTag(await stat(path, { bigint: true }));

test("replaces a file and keeps its mode, or creates it", async () => {
  await using files = await createFiles();
  const file = join(files.root, "file");
  await chmod(file, 0o751);
  const before = await stat(file);
  expect(await write(files, "file", "new")).toEqual({ path: file, bytes: 3, etag: await tagOf(file) });
  const after = await stat(file);
  expect(after.mode).toBe(before.mode);
  expect(after.ino).not.toBe(before.ino);
  expect(await readFile(file, "utf8")).toBe("new");
  await write(files, "made", "made");
  expect((await stat(join(files.root, "made"))).mode & 0o777).toBe(0o666 & ~process.umask());
  expect((await readdir(files.root)).toSorted()).toEqual(["file", "made", "state"]);
});

test("writes through links inside the roots, and replaces no link", async () => {
  await using files = await createFiles();
  const { root, outside } = files;
  await mkdir(join(root, "folder"));
  await symlink("../file", join(root, "folder", "link"));
  await write(files, "folder/link", "new");
  expect(await readFile(join(root, "file"), "utf8")).toBe("new");
  expect(await readlink(join(root, "folder", "link"))).toBe("../file");
  await symlink(join(outside, "secret"), join(root, "out"));
  await symlink(outside, join(root, "out-folder"));
  await symlink("missing", join(root, "broken"));
  for (const path of [
    "out",
    "out-folder/secret",
    "out-folder/made",
    "broken",
    "missing/made",
    "../made",
    "state/token",
  ]) {
    await expect(write(files, path, "x")).rejects.toMatchObject({ code: "file_not_found" });
  }
  for (const path of ["folder", "folder/", "folder/.", "folder/..", "."]) {
    await expect(write(files, path, "x")).rejects.toMatchObject({ code: "wrong_file_type" });
  }
  expect(await readFile(join(outside, "secret"), "utf8")).toBe("outside");
  expect((await readdir(outside)).filter((name) => name === "made")).toEqual([]);
});

test("replaces only the contents that the writer has seen", async () => {
  await using files = await createFiles();
  const file = join(files.root, "file");
  const etag = await tagOf(file);
  const { etag: second } = await write(files, "file", "second", { ifMatch: `"other", ${etag}` });
  const late = expect.objectContaining({ code: "precondition_failed", details: { etag: second } });
  await expect(write(files, "file", "late", { ifMatch: etag })).rejects.toEqual(late);
  await expect(checkReplacement(files.paths, file, { name: "file", ifMatch: etag })).rejects.toEqual(late);
  await write(files, "file", "third", { ifMatch: "*" });
  expect(await readFile(file, "utf8")).toBe("third");
  await expect(write(files, "none", "x", { ifMatch: "*" })).rejects.toMatchObject({
    code: "precondition_failed",
    details: { etag: null },
  });
  expect((await readdir(files.root)).toSorted()).toEqual(["file", "state"]);
});

test("one of several concurrent writers wins", async () => {
  await using files = await createFiles();
  const file = join(files.root, "file");
  const ifMatch = await tagOf(file);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, async (_, index) => write(files, "file", `writer ${index}`, { ifMatch })),
  );
  const created = await Promise.allSettled(
    Array.from({ length: 10 }, async (_, index) => write(files, "new", `writer ${index}`, { isNew: true })),
  );
  for (const results of [outcomes, created]) {
    const reasons = results.flatMap((result) =>
      result.status === "rejected" ? [(result.reason as { code: string }).code] : [],
    );
    expect(reasons).toEqual(Array.from({ length: 9 }, () => "precondition_failed"));
  }
  expect((await readdir(files.root)).toSorted()).toEqual(["file", "new", "state"]);
});

test("reuses the temporary file of a killed attempt", async () => {
  await using files = await createFiles();
  await writeFile(join(files.root, ".codexkit-same.tmp"), "half");
  await write(files, "file", "whole", { id: "same" });
  expect(await readFile(join(files.root, "file"), "utf8")).toBe("whole");
  expect((await readdir(files.root)).toSorted()).toEqual(["file", "state"]);
});

test("a folder that is constantly replaced never allows a write outside the roots", async () => {
  await using files = await createFiles();
  const { root, outside } = files;
  await mkdir(join(root, "folder"));
  const target = join(outside, "target");
  await mkdir(target);
  await symlink(join(root, "folder"), join(root, "link"));
  const stop = new AbortController();
  const exchange = (async () => {
    for (let turn = 0; !stop.signal.aborted; turn += 1) {
      await symlink(turn % 2 === 0 ? target : join(root, "folder"), join(root, "next"));
      await rename(join(root, "next"), join(root, "link"));
    }
  })();
  const seen = new Set<string>();
  for (let turn = 0; turn < 120; turn += 1) {
    await write(files, "link/made", "x").then(
      ({ path }) => seen.add(path),
      (error: { code: string }) => seen.add(error.code),
    );
  }
  stop.abort();
  await exchange;
  expect([...seen].toSorted()).toEqual([join(root, "folder", "made"), "file_not_found"]);
  expect(await readdir(target)).toEqual([]);
});
