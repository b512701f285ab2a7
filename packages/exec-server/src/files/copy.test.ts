// Copies on a real server. Named pipes, devices and large trees must not delay the file operations of other clients.
import { tempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RawClient } from "../../test/raw-client.ts";
import { ExecServer } from "../server/exec-server.ts";

async function started() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await tempFolder("copy")).path;
  const server = stack.use(await ExecServer.start());
  const client = stack.use(await RawClient.ready(server.url ?? ""));
  const copy = (source: string, destination: string, recursive = false) =>
    client.call("fs/copy", {
      sourcePath: `file://${join(folder, source)}`,
      destinationPath: `file://${join(folder, destination)}`,
      recursive,
    });
  const owner = stack.move();
  return { folder, client, copy, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

test("a copy to or from a named pipe is refused at once, however many there are", async () => {
  await using it = await started();
  await writeFile(join(it.folder, "file"), "content");
  execFileSync("mkfifo", ["pipe"], { cwd: it.folder });
  // More than Node has threads: one that waited would block all file operations.
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => (index % 2 ? it.copy("file", "pipe") : it.copy("pipe", "copy"))),
  );
  expect(answers.map(({ error }) => error?.code)).toEqual(
    answers.map((_, index) => (index % 2 ? -32603 : -32600)),
  );
  expect((await it.copy("file", "second")).error).toBeUndefined();
  expect(await readFile(join(it.folder, "second"), "utf8")).toBe("content");
});

test("a device is refused as the source and as the destination", async () => {
  await using it = await started();
  await writeFile(join(it.folder, "file"), "content");
  await symlink("/dev/zero", join(it.folder, "zero"));
  const device = {
    sourcePath: "file:///dev/zero",
    destinationPath: `file://${it.folder}/x`,
    recursive: false,
  };
  expect((await it.client.call("fs/copy", device)).error?.code).toBe(-32600);
  expect((await it.copy("file", "zero")).error?.code).toBe(-32600);
});

test("content and mode are copied, a longer file is replaced, and a file onto itself is kept", async () => {
  await using it = await started();
  const content = Buffer.alloc(3_500_000, "abc");
  await writeFile(join(it.folder, "file"), content);
  await chmod(join(it.folder, "file"), 0o4751);
  await writeFile(join(it.folder, "target"), Buffer.alloc(4_000_000));
  expect((await it.copy("file", "target")).error).toBeUndefined();
  expect((await readFile(join(it.folder, "target"))).equals(content)).toBe(true);
  expect((await stat(join(it.folder, "target"))).mode & 0o7777).toBe(0o751);
  expect((await it.copy("file", "file")).error).toBeUndefined();
  expect((await readFile(join(it.folder, "file"))).equals(content)).toBe(true);
});

test("a tree is copied with its links and modes, and without its named pipes", async () => {
  await using it = await started();
  const source = join(it.folder, "tree");
  await mkdir(join(source, "a/b"), { recursive: true });
  await writeFile(join(source, "a/b/file"), "deep");
  await chmod(join(source, "a/b/file"), 0o640);
  await symlink("b/file", join(source, "a/link"));
  execFileSync("mkfifo", [join(source, "a/pipe")]);
  expect((await it.copy("tree", "copy", true)).error).toBeUndefined();
  const copy = join(it.folder, "copy");
  expect(await readdir(copy, { recursive: true })).toEqual(
    expect.arrayContaining(["a", "a/b", "a/b/file", "a/link"]) as string[],
  );
  expect(await readdir(join(copy, "a"))).not.toContain("pipe");
  expect(await readlink(join(copy, "a/link"))).toBe("b/file");
  expect((await stat(join(copy, "a/b/file"))).mode & 0o777).toBe(0o640);
});

test("a tree that can't be copied completely is an error, and nothing is written after the answer", async () => {
  await using it = await started();
  await mkdir(join(it.folder, "tree"));
  for (let index = 0; index < 200; index += 1) await writeFile(join(it.folder, "tree", `${index}`), "x");
  await mkdir(join(it.folder, "copy/100"), { recursive: true });
  expect((await it.copy("tree", "copy", true)).error?.code).toBe(-32603);
  const after = await readdir(join(it.folder, "copy"));
  await it.client.call("fs/getMetadata", { path: `file://${it.folder}` });
  expect(await readdir(join(it.folder, "copy"))).toEqual(after);
});

test(
  "other clients' file operations go on while a large tree is copied and removed",
  { timeout: 60_000 },
  async () => {
    await using it = await started();
    await mkdir(join(it.folder, "tree"));
    for (let index = 0; index < 1_500; index += 1) await writeFile(join(it.folder, "tree", `${index}`), "x");
    const countCallsDuring = async (operation: Promise<unknown>): Promise<number> => {
      const ended = new AbortController();
      void operation.then(() => ended.abort());
      let calls = 0;
      while (!ended.signal.aborted) {
        await it.client.call("fs/getMetadata", { path: `file://${it.folder}/tree` });
        calls += 1;
      }
      return calls;
    };
    expect(await countCallsDuring(it.copy("tree", "copy", true))).toBeGreaterThan(20);
    const remove = it.client.call("fs/remove", { path: `file://${it.folder}/copy` });
    // Node's own removal queues all of the files at once: two or three calls were answered.
    expect(await countCallsDuring(remove)).toBeGreaterThan(20);
    expect(await readdir(it.folder)).toEqual(["tree"]);
  },
);
