import { tempFolder } from "@codexkit/testing";
import { execFile, execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { SERVER_LIMITS } from "../limits.ts";
import { parseDenyPattern } from "./deny-pattern.ts";
import { findDenied } from "./deny-scan.ts";
import { findBwrap } from "./find-bwrap.ts";

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

test("finds a folder that can't be read, because its owner can make it readable", async () => {
  await using folder = await tempFolder("scan");
  const closed = join(folder.path, "closed");
  await mkdir(closed);
  await writeFile(join(closed, ".env"), "x");
  await chmod(closed, 0);
  const code = (file: string) => JSON.stringify(new URL(file, import.meta.url));
  const script = `
    import { findDenied } from ${code("./deny-scan.ts")};
    import { parseDenyPattern } from ${code("./deny-pattern.ts")};
    import { SERVER_LIMITS } from ${code("../limits.ts")};
    const patterns = parseDenyPattern("**/*.env", { cwd: ${JSON.stringify(folder.path)}, workspaceRoots: [] });
    console.log(JSON.stringify(await findDenied(patterns, undefined, SERVER_LIMITS)));`;
  const node = [process.execPath, "--conditions=codexkit:source", "--input-type=module", "--eval", script];
  // Without capabilities: root could read the folder.
  const sandbox = ["--bind", "/", "/", "--dev", "/dev", "--unshare-user", "--cap-drop", "ALL", "--"];
  const { stdout } = await promisify(execFile)(findBwrap() ?? "bwrap", [...sandbox, ...node]);
  await chmod(closed, 0o700);
  expect(JSON.parse(stdout)).toEqual([{ path: closed, isFloating: false }]);
});

test("refuses a folder whose path is too long to be examined", async () => {
  await using folder = await tempFolder("scan");
  const name = "d".repeat(250);
  const script = `for i in $(seq 17); do mkdir ${name} && cd ${name}; done; echo x > .env`;
  execFileSync("/bin/bash", ["-c", script], { cwd: folder.path });
  const patterns = parseDenyPattern("**/*.env", { cwd: folder.path, workspaceRoots: [] });
  await expect(findDenied(patterns, undefined, SERVER_LIMITS)).rejects.toMatchObject({ rpcCode: -32602 });
  // Node can't remove it either.
  execFileSync("/bin/rm", ["-rf", join(folder.path, name)]);
});
