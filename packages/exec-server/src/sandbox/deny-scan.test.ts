import { tempFolder } from "@codexkit/testing";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SERVER_LIMITS } from "../limits.ts";
import { parseDenyPattern } from "./deny-pattern.ts";
import { findDenied } from "./deny-scan.ts";

test("finds files and folders, below hidden folders too, and follows no links", async () => {
  await using folder = await tempFolder("scan");
  const at = (path: string) => join(folder.path, path);
  await mkdir(at(".h/deep"), { recursive: true });
  await mkdir(at("x.env/inner"), { recursive: true });
  for (const path of [".env", ".h/deep/a.env", "x.env/b.env", "other"]) await writeFile(at(path), "x");
  await symlink(at(".h"), at("loop"));
  const patterns = parseDenyPattern("**/*.env", { cwd: folder.path, workspaceRoots: [] });
  const paths = async (depth?: number) =>
    (await findDenied(patterns, depth, SERVER_LIMITS)).map(({ path }) => path).toSorted();
  expect(await paths()).toEqual([at(".env"), at(".h/deep/a.env"), at("x.env")]);
  expect(await paths(1)).toEqual([at(".env"), at("x.env")]);
});

test("refuses more matches than can be hidden", { timeout: 60_000 }, async () => {
  await using folder = await tempFolder("scan");
  const names = Array.from({ length: SERVER_LIMITS.deniedMatches + 1 }, (_, index) => `${index}.env`);
  for (const name of names) await writeFile(join(folder.path, name), "");
  const patterns = parseDenyPattern("**/*.env", { cwd: folder.path, workspaceRoots: [] });
  await expect(findDenied(patterns, undefined, SERVER_LIMITS)).rejects.toMatchObject({ rpcCode: -32602 });
});

test("refuses a name that can't be given to bubblewrap", async () => {
  await using folder = await tempFolder("scan");
  await writeFile(Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.of(0xff), Buffer.from(".env")]), "");
  const patterns = parseDenyPattern("**/*.env", { cwd: folder.path, workspaceRoots: [] });
  await expect(findDenied(patterns, undefined, SERVER_LIMITS)).rejects.toMatchObject({ rpcCode: -32602 });
});
