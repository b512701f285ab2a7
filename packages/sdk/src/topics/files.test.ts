import {
  type AppServer,
  type FakeAction,
  notify,
  startAppServer,
  startFakeAppServer,
} from "@codexkit/testing";
import fc from "fast-check";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peerCaller } from "../../test/peer-caller.ts";
import { Files } from "./files.ts";

let server: AppServer;
let files: Files;
let at: (name: string) => string;
beforeAll(async () => {
  server = await startAppServer({ model: [] });
  files = new Files(peerCaller(await server.connect()));
  at = (name) => join(server.workspace, name);
});
afterAll(() => server[Symbol.asyncDispose]());

describe("files", () => {
  it("keep any bytes, and text as UTF-8", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 4096 }), async (bytes) => {
        await files.write(at("bytes"), bytes);
        expect(Buffer.from(await files.read(at("bytes")))).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 20 },
    );
    await files.write(at("text"), "héllo 😀");
    expect(await files.readText(at("text"))).toBe("héllo 😀");
  });

  it("are created, listed, copied and removed", async () => {
    await files.mkdir(at("tree/deep"));
    await files.write(at("tree/a.txt"), "a");
    expect(await files.list(at("tree"))).toEqual(
      expect.arrayContaining([
        { fileName: "deep", isDirectory: true, isFile: false },
        { fileName: "a.txt", isDirectory: false, isFile: true },
      ]),
    );
    expect(await files.stat(at("tree/a.txt"))).toMatchObject({
      isFile: true,
      isDirectory: false,
      isSymlink: false,
    });
    await files.copy(at("tree"), at("copy"), { recursive: true });
    expect(await files.readText(at("copy/a.txt"))).toBe("a");
    await files.remove(at("copy/a.txt"));
    await files.remove(at("copy"), { recursive: true });
    await expect(files.stat(at("copy"))).rejects.toMatchObject({ code: "request_failed" });
  });

  it("are not removed by accident", async () => {
    await files.mkdir(at("full/inner"));
    await expect(files.remove(at("full"))).rejects.toMatchObject({ code: "request_failed" });
    await expect(files.remove(at("missing"))).rejects.toMatchObject({ code: "request_failed" });
    await expect(files.remove(at("missing"), { force: true })).resolves.toBeUndefined();
    await expect(files.copy(at("full"), at("full2"))).rejects.toMatchObject({ code: "request_failed" });
    await expect(files.mkdir(at("no/parent"), { recursive: false })).rejects.toMatchObject({
      code: "request_failed",
    });
  });

  it("need absolute paths", async () => {
    for (const path of ["a", "./a", "../a", ""]) {
      for (const call of [
        () => files.read(path),
        () => files.write(path, ""),
        () => files.stat(path),
        () => files.list(path),
        () => files.watch(path),
        () => files.search("x", { roots: [path] }),
        () => files.startSearch({ roots: [path] }),
      ]) {
        await expect(call()).rejects.toMatchObject({
          code: "invalid_argument",
          message: expect.stringMatching(/must be absolute/) as string,
        });
      }
    }
  });
});

describe("a watch", () => {
  it("yields each changed path once and ends when disposed", async () => {
    await mkdir(at("watched"));
    const watch = await files.watch(at("watched"));
    expect(watch.path).toBe(at("watched"));
    const changes = watch[Symbol.asyncIterator]();
    const first = changes.next();
    await writeFile(at("watched/one"), "1");
    expect(await first).toMatchObject({ value: { paths: [at("watched/one")] } });
    const end = changes.next();
    await watch[Symbol.asyncDispose]();
    expect(await end).toMatchObject({ done: true });
  });

  it("reports a file that is created later", async () => {
    await using watch = await files.watch(at("later"));
    const first = watch[Symbol.asyncIterator]().next();
    await files.write(at("later"), "now");
    expect(await first).toMatchObject({ value: { paths: [at("later")] } });
  });

  it("stops when its reader stops or its signal aborts", async () => {
    const watch = await files.watch(at("left"));
    await files.write(at("left"), "1");
    for await (const change of watch) if (change.paths.length > 0) break;
    expect(await Array.fromAsync(watch)).toEqual([]);
    const controller = new AbortController();
    const aborted = await files.watch(at("aborted"), { signal: controller.signal });
    const next = aborted[Symbol.asyncIterator]().next();
    controller.abort();
    await expect(next).rejects.toMatchObject({ code: "aborted" });
  });

  it("is stopped on the server if it is aborted before the server has responded", async () => {
    await using fake = startFakeAppServer({
      on: { "fs/watch": [notify("fake/watching", {})], "fs/unwatch": [notify("fake/stopped", {})] },
    });
    const caller = peerCaller(fake.peer);
    const heard = (method: string): Promise<void> =>
      new Promise((resolve) => void caller.on(method as "fs/changed", () => resolve()));
    const watching = heard("fake/watching");
    const stopped = heard("fake/stopped");
    const controller = new AbortController();
    const watch = new Files(caller).watch("/w", { signal: controller.signal });
    await watching;
    controller.abort();
    await expect(watch).rejects.toMatchObject({ code: "aborted" });
    await stopped;
  });

  it("ignores other watches and ends with the server", async () => {
    const change = (path: string, watchId: unknown): FakeAction =>
      notify("fs/changed", { watchId, changedPaths: [path] });
    await using fake = startFakeAppServer({
      on: {
        "fs/watch": [{ do: "reply", result: { path: "/w" } }, change("/other", "another")],
        "fs/unwatch": [{ do: "exit", code: 1 }],
      },
    });
    const caller = peerCaller(fake.peer);
    const ended = (async () => {
      for await (const seen of await new Files(caller).watch("/w")) expect(seen).toBeUndefined();
    })();
    await caller.request("fs/unwatch", { watchId: "any" }).catch(() => {});
    await expect(ended).rejects.toMatchObject({ code: "app_server_crashed" });
  });
});

describe("a search", () => {
  beforeAll(async () => {
    await mkdir(at("src/deep"), { recursive: true });
    await writeFile(at("src/deep/needle.ts"), "");
    await writeFile(at("src/other.ts"), "");
  });

  it("finds files by the letters of their path", async () => {
    const found = await files.search("ndle", { roots: [at("src")] });
    expect(found).toMatchObject([{ root: at("src"), path: "deep/needle.ts", match_type: "file" }]);
    expect(await files.search("zzzz", { roots: [at("src")] })).toEqual([]);
  });

  it("follows a changing query", async () => {
    await using search = await files.startSearch({ roots: [at("src")] });
    for (const [query, paths] of [
      ["needle", ["deep/needle.ts"]],
      ["other", ["other.ts"]],
      ["zzzz", []],
    ] as const) {
      await search.update(query);
      for await (const results of search) {
        // The first results can arrive before the folders have been read.
        if (results.query !== query || results.files.length < paths.length) continue;
        expect(results.files.map(({ path }) => path)).toEqual(paths);
        break;
      }
    }
  });
});
