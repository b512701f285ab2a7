import { tempFolder } from "@codexkit/testing";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFile } from "./open-file.ts";

test("hides what describes processes, whatever its path was when it was checked", async () => {
  await using folder = await tempFolder("open-file");
  const [file, link] = [join(folder.path, "file"), join(folder.path, "link")];
  await writeFile(file, "x");
  await symlink("/proc/self/environ", link);
  for (const path of [link, "/proc/self/environ"]) {
    const opening = openFile(path, "read", { followSymlinks: true, isProcHidden: true });
    await expect(opening).rejects.toMatchObject({ rpcCode: -32600 });
    await using shown = await openFile(path, "read", { followSymlinks: true });
    expect(shown.fd).toBeGreaterThan(0);
  }
  await using plain = await openFile(file, "read", { followSymlinks: true, isProcHidden: true });
  expect(plain.fd).toBeGreaterThan(0);
});
