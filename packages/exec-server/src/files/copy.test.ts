// Copies on a real server: named pipes and devices must neither hold a request nor the threads of all others.
import { tempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { chmod, readFile, stat, symlink, writeFile } from "node:fs/promises";
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
  await chmod(join(it.folder, "file"), 0o751);
  await writeFile(join(it.folder, "target"), Buffer.alloc(4_000_000));
  expect((await it.copy("file", "target")).error).toBeUndefined();
  expect((await readFile(join(it.folder, "target"))).equals(content)).toBe(true);
  expect((await stat(join(it.folder, "target"))).mode & 0o777).toBe(0o751);
  expect((await it.copy("file", "file")).error).toBeUndefined();
  expect((await readFile(join(it.folder, "file"))).equals(content)).toBe(true);
});
