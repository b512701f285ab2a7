// File methods: the same results and the same refusals from our server and from Codex's own.
import { tempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connected, SERVER_KINDS } from "./connected-client.ts";
import { startServer, type TestServer } from "./servers.ts";
import { RawClient } from "./raw-client.ts";

/** A request, and the code that it is refused with; 0 when it is not. */
const cases: [method: string, params: Record<string, unknown>, code: number][] = [
  ["fs/readFile", { path: "T/l" }, 0],
  ["fs/readFile", { path: "T/l", followSymlinks: false }, -32603],
  ["fs/readFile", { path: "T/dl/x", followSymlinks: false }, -32603],
  ["fs/readFile", { path: "T/d/x", followSymlinks: false }, 0],
  ["fs/readFile", { path: "T/fifo" }, -32600],
  ["fs/readFile", { path: "T/d" }, -32600],
  ["fs/readFile", { path: "T/no" }, -32004],
  ["fs/readFile", { path: "T/f/x" }, -32603],
  ["fs/readFile", { path: "/etc/hostname" }, -32602],
  ["fs/readFile", { path: "http://x/y" }, -32602],
  ["fs/readFile", { path: "T/f?x" }, -32602],
  ["fs/readFile", { path: "T/f#x" }, -32602],
  ["fs/readFile", { path: "file://host/x" }, -32600],
  ["fs/readFile", { path: "file:///C:/x" }, -32600],
  ["fs/readFile", { path: "T/%66" }, 0],
  ["fs/readFile", { path: "T/%ff" }, -32004],
  ["fs/readFile", { path: "T/d/../f" }, 0],
  ["fs/readFile", {}, -32602],
  ["fs/readFile", { path: 7 }, -32602],
  ["fs/writeFile", { path: "T/n/x", dataBase64: "eA==" }, -32004],
  ["fs/writeFile", { path: "T/w", dataBase64: "!!!!" }, -32600],
  ["fs/writeFile", { path: "T/w", dataBase64: "" }, 0],
  ["fs/writeFile", { path: "T/d", dataBase64: "eA==" }, -32603],
  ["fs/writeFile", { path: "T/l", dataBase64: "eA==", followSymlinks: false }, -32603],
  ["fs/writeFile", { path: "T/dl/y", dataBase64: "eA==", followSymlinks: false }, -32603],
  ["fs/getMetadata", { path: "T/l" }, 0],
  ["fs/getMetadata", { path: "T/l", followSymlinks: false }, -32600],
  ["fs/getMetadata", { path: "T/broken" }, -32004],
  ["fs/getMetadata", { path: "T/broken", followSymlinks: false }, -32600],
  ["fs/getMetadata", { path: "T/dl/x", followSymlinks: false }, -32603],
  ["fs/getMetadata", { path: "T/fifo" }, 0],
  ["fs/canonicalize", { path: "T/broken" }, -32004],
  ["fs/readDirectory", { path: "T/f" }, -32603],
  ["fs/readDirectory", { path: "T/no" }, -32004],
  ["fs/createDirectory", { path: "T/d" }, 0],
  ["fs/createDirectory", { path: "T/d", recursive: false }, -32603],
  ["fs/createDirectory", { path: "T/q/r", recursive: false }, -32004],
  ["fs/createDirectory", { path: "T/f/r" }, -32603],
  ["fs/createDirectory", { path: "T/f" }, -32603],
  ["fs/createDirectory", { path: "T/dl/k", followSymlinks: false }, -32603],
  ["fs/createDirectory", { path: "T/d/k/l", followSymlinks: false }, 0],
  ["fs/createDirectory", { path: "file:///", recursive: false }, -32603],
  ["fs/createDirectory", { path: "file:///" }, 0],
  ["fs/copy", { sourcePath: "T/d", destinationPath: "T/d2", recursive: false }, -32600],
  ["fs/copy", { sourcePath: "T/d", destinationPath: "T/d/in", recursive: true }, -32600],
  ["fs/copy", { sourcePath: "T/d", destinationPath: "T/d", recursive: true }, -32600],
  ["fs/copy", { sourcePath: "T/l", destinationPath: "T/l2", recursive: false }, 0],
  ["fs/copy", { sourcePath: "T/l", destinationPath: "T/l2", recursive: false }, -32603],
  ["fs/copy", { sourcePath: "T/f", destinationPath: "T/d", recursive: false }, -32603],
  ["fs/copy", { sourcePath: "T/no", destinationPath: "T/x", recursive: false }, -32004],
  ["fs/copy", { sourcePath: "T/f", destinationPath: "T/x" }, -32602],
  ["fs/copy", { sourcePath: "T/broken", destinationPath: "T/broken2", recursive: false }, 0],
  ["fs/remove", { path: "T/no" }, 0],
  ["fs/remove", { path: "T/no", force: false }, -32004],
  ["fs/remove", { path: "T/d", recursive: false }, -32603],
  ["fs/remove", { path: "T/d", recursive: true, followSymlinks: false }, -32603],
  ["fs/remove", { path: "T/dl/x", recursive: false, followSymlinks: false }, -32603],
  ["fs/remove", { path: "T/l2", recursive: false, followSymlinks: false }, -32600],
  ["fs/remove", { path: "T/f/x" }, -32603],
  ["fs/open", { handleId: "h", path: "T/f" }, 0],
  ["fs/open", { handleId: "h", path: "T/f" }, -32600],
  ["fs/open", { handleId: "x".repeat(33), path: "T/f" }, -32600],
  ["fs/open", { handleId: "d", path: "T/d" }, -32600],
  ["fs/open", { handleId: "p", path: "T/fifo" }, -32600],
  ["fs/open", { handleId: "n", path: "T/no" }, -32004],
  ["fs/open", { handleId: "m", path: "T/f", mode: "append" }, -32602],
  ["fs/readBlock", { handleId: "h", offset: 0, len: 0 }, -32600],
  ["fs/readBlock", { handleId: "h", offset: 0, len: 1_048_577 }, -32600],
  ["fs/readBlock", { handleId: "h", offset: -1, len: 1 }, -32602],
  ["fs/readBlock", { handleId: "no", offset: 0, len: 1 }, -32004],
  ["fs/writeBlock", { handleId: "h", offset: 0, chunk: "eA==" }, -32603],
  ["fs/open", { handleId: "w", path: "T/wr", mode: "replace" }, 0],
  ["fs/writeBlock", { handleId: "w", offset: 2, chunk: "eA==" }, 0],
  ["fs/writeBlock", { handleId: "w", offset: 2, chunk: "" }, -32600],
  ["fs/writeBlock", { handleId: "w", offset: 2, chunk: "!" }, -32602],
  ["fs/readBlock", { handleId: "w", offset: 0, len: 1 }, -32603],
  ["fs/writeBlock", { handleId: "w", offset: 0, chunk: "eA==" }, -32004],
  ["fs/close", { handleId: "no" }, 0],
  ["fs/close", null as never, -32602],
  ["fs/watchMissing", { watchId: 1, missing: [] }, 0],
  ["environment/status", { a: 1 }, -32602],
  ["environment/status", [] as never, -32602],
  ["no/such", {}, -32601],
  ["initialize", { clientName: "again" }, -32600],
  ["http/request", { method: "GET", url: "ftp://x", requestId: "1" }, -32602],
  ["http/request", { method: "GET", url: "http://127.0.0.1:1/", requestId: "1" }, -32603],
  ["http/request", { method: "GET", url: "http://127.0.0.1:1/" }, -32602],
];

describe.each(["ours", "codex"] as const)("%s", (kind) => {
  let server: TestServer;
  let client: RawClient;
  let folder: Awaited<ReturnType<typeof tempFolder>>;

  beforeAll(async () => {
    folder = await tempFolder("exec-files");
    const script =
      "mkdir d; printf x > d/x; echo hi > f; ln -s f l; ln -s nowhere broken; ln -s d dl; mkfifo fifo";
    execFileSync("/bin/sh", ["-c", script], { cwd: folder.path });
    server = await startServer(kind);
    client = await RawClient.ready(server.url);
  });

  afterAll(async () => {
    client[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test.each(cases)("%s %j", async (method, params, code) => {
    const text = JSON.stringify(params).replaceAll('"T/', `"file://${folder.path}/`);
    const { error } = await client.call(method, JSON.parse(text));
    expect(error?.code ?? 0).toBe(code);
  });
});

describe.each(SERVER_KINDS)("a client of %s", (kind) => {
  test("keeps files as they are written, read, listed, copied and removed", async () => {
    await using it = await connected(kind);
    const { files } = it.client;
    const at = (name: string) => join(it.folder, name);
    await files.write(at("a b%c"), "héllo");
    expect(String(await files.read(at("a b%c")))).toBe("héllo");
    await files.makeDirectory(at("d/e"));
    await files.write(at("d/e/f"), Buffer.from([0, 255, 1]));
    await expect(files.metadata(at("d/e/f"))).resolves.toMatchObject({
      isFile: true,
      isDirectory: false,
      size: 3,
    });
    await files.copy(at("d"), at("d2"), { recursive: true });
    expect(await readFile(at("d2/e/f"))).toEqual(Buffer.from([0, 255, 1]));
    const names = (await files.list(at("."))).map(({ fileName }) => fileName).toSorted();
    expect(names).toEqual(["a b%c", "d", "d2"]);
    await symlink(at("d"), at("link"));
    expect(await files.canonicalize(at("link/e"))).toBe(`file://${at("d/e")}`);
    await files.remove(at("link"));
    await files.remove(at("d2"));
    expect((await files.list(at("."))).map(({ fileName }) => fileName).toSorted()).toEqual(["a b%c", "d"]);
    await files.remove(at("gone"));
    await expect(files.remove(at("gone"), { force: false })).rejects.toMatchObject({
      code: "not_found",
      rpcCode: -32004,
    });
  });

  test("streams files of a megabyte and more, to the exact byte", async () => {
    await using it = await connected(kind);
    const bytes = Buffer.alloc(2 * 1024 * 1024, "0123456789");
    const path = join(it.folder, "big");
    await writeFile(path, bytes);
    const pieces: Buffer[] = [];
    for await (const piece of it.client.files.stream(path)) pieces.push(piece);
    expect(pieces.map(({ length }) => length)).toEqual([1024 * 1024, 1024 * 1024]);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    await it.client.files.writeStream(join(it.folder, "copy"), [bytes]);
    expect((await readFile(join(it.folder, "copy"))).equals(bytes)).toBe(true);
    expect((await it.client.files.read(path)).equals(bytes)).toBe(true);
    await it.client.files.write(join(it.folder, "copy"), bytes.subarray(1));
    expect((await readFile(join(it.folder, "copy"))).equals(bytes.subarray(1))).toBe(true);
  });

  test("walks a tree breadth first, by name, within its limits", async () => {
    await using it = await connected(kind);
    const { folder } = it;
    await mkdir(join(folder, "b/c"), { recursive: true });
    await mkdir(join(folder, ".h/x"), { recursive: true });
    await writeFile(join(folder, "b/c/z"), "");
    await writeFile(join(folder, "a"), "");
    await symlink(folder, join(folder, "b/loop"));
    await symlink(join(folder, "a"), join(folder, "s"));
    const walk = async (options: object) => {
      const result = await it.client.files.walk(folder, {
        maxDepth: 6,
        maxDirectories: 100,
        maxEntries: 100,
        followDirectorySymlinks: true,
        ...options,
      });
      return [result.entries.map(({ path }) => path.slice(`file://${folder}/`.length)), result.truncated];
    };
    expect(await walk({})).toEqual([[".h", "a", "b", ".h/x", "b/c", "b/loop", "b/c/z"], false]);
    expect(await walk({ followDirectorySymlinks: false })).toEqual([
      [".h", "a", "b", ".h/x", "b/c", "b/c/z"],
      false,
    ]);
    expect(await walk({ pruneHiddenDirectories: true, maxDepth: 1 })).toEqual([
      [".h", "a", "b", "b/c", "b/loop"],
      false,
    ]);
    expect(await walk({ maxEntries: 2 })).toEqual([[".h", "a"], true]);
    expect(await walk({ maxDirectories: 1 })).toEqual([[".h", "a", "b"], true]);
    await expect(walk({ maxDepth: 65 })).rejects.toMatchObject({ rpcCode: -32600 });
    await expect(walk({ maxEntries: 0 })).rejects.toMatchObject({ rpcCode: -32600 });
    await expect(
      it.client.files.walk(join(folder, "no"), {
        maxDepth: 1,
        maxDirectories: 1,
        maxEntries: 1,
        followDirectorySymlinks: true,
      }),
    ).rejects.toMatchObject({ rpcCode: -32004 });
  });
});
