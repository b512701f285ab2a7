import { execFileSync } from "node:child_process";
import { link, mkdir, open, readFile, rename, symlink, unlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { expect, test } from "vitest";
import { createFiles } from "../../test/file-fixture.ts";
import { AllowedPaths, handlePath } from "./allowed-paths.ts";

const notFound = expect.objectContaining({ code: "file_not_found" });
const wrongType = expect.objectContaining({ code: "wrong_file_type" });

test("opens files and folders inside the roots, also through links", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  await mkdir(join(root, "folder"));
  await symlink("..", join(root, "folder", "up"));
  await symlink("folder/up/file", join(root, "link"));
  for (const path of ["file", "folder/../file", "folder/up/file", "link", "./file"]) {
    await using opened = await paths.openFile(`${root}/${path}`);
    expect(opened.path).toBe(join(root, "file"));
    expect(await opened.handle.readFile("utf8")).toBe("inside");
  }
});

test("gives the same response for missing paths and paths outside the roots", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  await symlink(outside, join(root, "out"));
  await symlink(join(outside, "secret"), join(root, "secret"));
  await symlink("loop", join(root, "loop"));
  await symlink("/proc/self/root", join(root, "proc"));
  for (const path of [
    "../outside/secret",
    "../../../../../../../../etc/passwd",
    "..",
    "out",
    "out/secret",
    "out/missing",
    "secret",
    "loop",
    "missing",
    "file/below",
    `proc${outside}/secret`,
    "x".repeat(5000),
    "state",
    "state/token",
  ]) {
    await expect(paths.open(`${root}/${path}`)).rejects.toEqual(notFound);
  }
  for (const path of ["/etc/passwd", `${root}-sibling`, "/", outside]) {
    await expect(paths.open(path)).rejects.toEqual(notFound);
  }
});

test("serves the whole system if a root is /", async () => {
  await using files = await createFiles();
  const paths = new AllowedPaths(["/"], [files.denied]);
  await using opened = await paths.openFile(join(files.outside, "secret"));
  expect(await opened.handle.readFile("utf8")).toBe("outside");
  await expect(paths.open(join(files.denied, "token"))).rejects.toEqual(notFound);
});

test("never opens pipes, sockets and devices, and does not wait on them", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  execFileSync("mkfifo", [join(root, "pipe")]);
  const server = createServer().listen(join(root, "socket"));
  await once(server, "listening");
  for (const name of ["pipe", "socket"]) {
    await expect(paths.openFile(join(root, name))).rejects.toEqual(wrongType);
  }
  server.close();
  const devices = new AllowedPaths(["/dev"], []);
  for (const path of ["/dev/zero", "/dev/tty", "/dev/null"]) {
    await expect(devices.openFile(path)).rejects.toEqual(wrongType);
  }
  await expect(paths.openFile(root)).rejects.toEqual(wrongType);
  await expect(paths.openFolder(join(root, "file"))).rejects.toEqual(wrongType);
});

test("a removed file is not found, and a hard link is a file", async () => {
  await using files = await createFiles();
  const { root, paths } = files;
  await link(join(root, "file"), join(root, "second"));
  await unlink(join(root, "file"));
  await expect(paths.open(join(root, "file"))).rejects.toEqual(notFound);
  await using opened = await paths.openFile(join(root, "second"));
  expect(await opened.handle.readFile("utf8")).toBe("inside");
});

test("keeps the checked file if its path is replaced afterwards", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  const path = join(root, "link");
  await symlink(join(root, "file"), path);
  await using opened = await paths.open(path);
  await unlink(path);
  await symlink(join(outside, "secret"), path);
  await using reopened = await open(handlePath(opened.handle));
  expect(await reopened.readFile("utf8")).toBe("inside");
  expect(await readFile(path, "utf8")).toBe("outside");
});

test("a link that is constantly replaced never gives access to files outside the roots", async () => {
  await using files = await createFiles();
  const { root, outside, paths } = files;
  const path = join(root, "link");
  await symlink(join(root, "file"), path);
  await writeFile(join(root, "other"), "inside");
  const stop = new AbortController();
  const exchange = (async () => {
    for (let count = 0; !stop.signal.aborted; count += 1) {
      const next = join(root, "next");
      await symlink(count % 2 === 0 ? join(outside, "secret") : join(root, "other"), next);
      await rename(next, path);
    }
  })();
  const seen = new Set<string>();
  for (let count = 0; count < 1500; count += 1) {
    try {
      await using opened = await paths.openFile(path);
      seen.add(await opened.handle.readFile("utf8"));
    } catch (error) {
      seen.add((error as { code: string }).code);
    }
  }
  stop.abort();
  await exchange;
  expect([...seen].toSorted()).toEqual(["file_not_found", "inside"]);
});
