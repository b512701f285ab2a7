import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFiles } from "../../test/file-fixture.ts";
import { listFolder } from "./list-folder.ts";

test("lists types, sizes and the targets of links", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  await mkdir(join(root, "folder"));
  await symlink("folder", join(root, "in"));
  await symlink(outside, join(root, "out"));
  await symlink("missing", join(root, "broken"));
  const page = await listFolder(paths, root, { limit: 50, name: "." });
  const modifiedAt = expect.any(Number);
  expect(page).toEqual({
    path: root,
    data: [
      { name: "broken", type: "link", bytes: null, modifiedAt, linksTo: null },
      { name: "file", type: "file", bytes: 6, modifiedAt },
      { name: "folder", type: "folder", bytes: null, modifiedAt },
      { name: "in", type: "link", bytes: null, modifiedAt, linksTo: "folder" },
      { name: "out", type: "link", bytes: null, modifiedAt, linksTo: null },
      { name: "state", type: "folder", bytes: null, modifiedAt },
    ],
    next: null,
  });
});

test("pages through a large folder in order, also while it changes", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  const folder = join(root, "many");
  await mkdir(folder);
  const names = Array.from({ length: 3500 }, (_, index) => `n${String(index).padStart(5, "0")}`);
  await Promise.all(names.map(async (name) => writeFile(join(folder, name), "")));
  const seen: string[] = [];
  let cursor: string | null | undefined;
  do {
    const options = { limit: 400, name: "many", ...(typeof cursor === "string" && { cursor }) };
    const page = await listFolder(paths, folder, options);
    seen.push(...page.data.map(({ name }) => name));
    cursor = page.next;
    // It sorts before the cursor, so no later page contains it.
    await writeFile(join(folder, `a${seen.length}`), "");
  } while (cursor !== null);
  expect(seen).toEqual(names);
});

test("names that are not UTF-8 are listed", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0x61])]), "12");
  const page = await listFolder(paths, root, { limit: 50, name: "." });
  expect(page.data.at(-1)).toMatchObject({ name: "\ufffda", bytes: 2 });
});

test("rejects foreign cursors", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  await expect(listFolder(paths, root, { limit: 5, name: ".", cursor: "a b" })).rejects.toMatchObject({
    code: "invalid_cursor",
  });
});
