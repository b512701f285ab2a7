import { STORE_KINDS } from "@codexkit/store/testing";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readdir, readFile, readlink, symlink, truncate, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { WatchedFileChange, FolderPage } from "../src/api/file.ts";
import type { Problem } from "../src/api/problem.ts";
import type { Command, Session } from "../src/api/session.ts";
import { useDatabases } from "./database-fixture.ts";
import { pollUntil } from "./poll-until.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

async function createSession(api: TestDaemon, more: object = {}): Promise<string> {
  const response = await api.request("POST /sessions?wait=10000", { json: { cwd: api.root, ...more } });
  return ((await response.json()) as { session: Session }).session.id;
}

const problemType = async (response: Response): Promise<string> => {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return ((await response.json()) as Problem).type;
};

const content = (id: string, path: string): string =>
  `/sessions/${id}/files/content?path=${encodeURIComponent(path)}`;

const PNG = Buffer.from("\u0089PNG\r\n\u001a\n....", "latin1");

describe.each(STORE_KINDS)("files on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = async (options: Parameters<typeof startTestDaemon>[1] = {}): Promise<TestDaemon> =>
    startTestDaemon(await databases.open(), options);

  test("a write is a command that is executed once, and its contents are not in the store", async () => {
    await using api = await start();
    const id = await createSession(api);
    const put = async (text: string, headers: Record<string, string> = {}): Promise<Response> =>
      api.request(`PUT ${content(id, "made")}&wait=10000`, { body: text, headers });
    const responses = await Promise.all(
      Array.from({ length: 4 }, async () => put("secret-text", { "idempotency-key": "one" })),
    );
    const commands = (await Promise.all(responses.map(async (response) => response.json()))) as Command[];
    expect(new Set(commands.map((command) => command.id)).size).toBe(1);
    expect(commands[0]).toMatchObject({
      kind: "writeFile",
      state: "done",
      result: { path: join(api.root, "made"), bytes: 11, etag: expect.stringMatching(/^"[\w-]+"$/) },
    });
    expect(await readFile(join(api.root, "made"), "utf8")).toBe("secret-text");
    expect(await problemType(await put("other", { "idempotency-key": "one" }))).toBe("key_reused");

    const etag = commands[0]?.result?.["etag"] as string;
    const second = (await (
      await put("second", { "if-match": etag, "idempotency-key": "two" })
    ).json()) as Command;
    expect(second.state).toBe("done");
    const late = await put("late", { "if-match": etag });
    expect(late.status).toBe(412);
    expect(await problemType(late)).toBe("precondition_failed");
    expect(await problemType(await put("new", { "if-none-match": "*" }))).toBe("precondition_failed");
    // A repetition returns the first command, although the file has changed since.
    const repeated = await put("second", { "if-match": etag, "idempotency-key": "two" });
    expect(await repeated.json()).toMatchObject({ id: second.id, state: "done" });

    const rows = await api.database.store.db.selectFrom("command").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain("secret-text");
    expect(rows.find(({ key }) => key === "one")?.body).toContain('"bytes":11');
    expect(await readdir(join(api.stateFolder, "staging"))).toEqual([]);
  });

  test("the result of a command contains the reason why a write failed", async () => {
    await using api = await start();
    const id = await createSession(api);
    await mkdir(join(api.root, "folder"));
    // Checked before the contents are read.
    for (const [path, type] of [
      ["folder", "wrong_file_type"],
      ["none/made", "file_not_found"],
      ["../made", "file_not_found"],
    ] as const) {
      expect(await problemType(await api.request(`PUT ${content(id, path)}`, { body: "x" }))).toBe(type);
    }
    // Checked again when the command is executed.
    const body = { path: "folder", bytes: 1, sha256: "0".repeat(64) };
    const { command } = await api.database.commands.submit({
      sessionId: id,
      key: "late",
      kind: "writeFile",
      body,
      by: "test",
    });
    const finished = await api.request(`GET /sessions/${id}/commands/${command.id}?wait=10000`);
    expect(await finished.json()).toMatchObject({ state: "failed", problem: { type: "wrong_file_type" } });
  });

  test("images are uploaded and referenced by messages", async () => {
    await using api = await start();
    const id = await createSession(api);
    const uploaded = await api.request(`POST /sessions/${id}/images`, { body: PNG });
    expect(uploaded.status).toBe(201);
    const image = (await uploaded.json()) as { id: string };
    expect(image).toMatchObject({ type: "image/png", bytes: PNG.length });
    const served = await api.request(`GET /sessions/${id}/images/${image.id}`);
    expect(served.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await served.arrayBuffer())).toEqual(PNG);
    const send = async (imageId: string): Promise<Response> =>
      api.request(`POST /sessions/${id}/messages?wait=10000`, {
        json: { input: [{ type: "uploadedImage", imageId }] },
      });
    expect((await send(image.id)).status).toBe(202);
    expect(await problemType(await send("0".repeat(64)))).toBe("not_found");
    const script = await api.request(`POST /sessions/${id}/images`, { body: "<svg/>" });
    expect(await problemType(script)).toBe("unsupported_media_type");
  });
});

describe("files", () => {
  const databases = useDatabases("sqlite");
  const start = async (options: Parameters<typeof startTestDaemon>[1] = {}): Promise<TestDaemon> =>
    startTestDaemon(await databases.open(), options);

  test("a folder is listed in pages", async () => {
    await using api = await start();
    const id = await createSession(api);
    for (const name of ["b", "a", "c"]) await writeFile(join(api.root, name), name);
    const first = (await (await api.request(`GET /sessions/${id}/files?limit=2`)).json()) as FolderPage;
    expect(first).toMatchObject({ path: api.root, data: [{ name: "a", bytes: 1 }, { name: "b" }] });
    const second = await api.request(`GET /sessions/${id}/files?limit=2&cursor=${first.next}`);
    expect(await second.json()).toMatchObject({ data: [{ name: "c" }], next: null });
  });

  test("traversal, links, devices and pipes are refused by every operation", async () => {
    await using api = await start();
    const id = await createSession(api);
    execFileSync("mkfifo", [join(api.root, "pipe")]);
    await symlink(tmpdir(), join(api.root, "out"));
    await symlink("/dev/zero", join(api.root, "zero"));
    const expected: Record<string, string> = {
      "../": "file_not_found",
      "/etc/passwd": "file_not_found",
      "/dev/zero": "file_not_found",
      zero: "file_not_found",
      "out/x": "file_not_found",
      [api.stateFolder]: "file_not_found",
      "a\0b": "bad_request",
      pipe: "wrong_file_type",
    };
    for (const [path, type] of Object.entries(expected)) {
      const query = `path=${encodeURIComponent(path)}`;
      for (const operation of ["GET files", "GET files/content", "PUT files/content", "GET files/changes"]) {
        const [method, rest] = operation.split(" ");
        const response = await api.request(`${method} /sessions/${id}/${rest}?${query}`, {
          ...(method === "PUT" && { body: "x" }),
        });
        expect
          .soft(await problemType(response), `${operation} ${path}`)
          .toBe(path === "../" && method === "PUT" ? "wrong_file_type" : type);
      }
    }
  });

  test("a file of 10 GB is read by range", async () => {
    await using api = await start();
    const id = await createSession(api);
    const size = 10 * 1024 ** 3;
    await using file = await open(join(api.root, "large"), "w");
    await file.truncate(size);
    await file.write("marker", size - 100);
    const range = async (header: string): Promise<Response> =>
      api.request(`GET ${content(id, "large")}`, { headers: { range: header } });
    const middle = await range(`bytes=${size - 100}-${size - 95}`);
    expect(middle.status).toBe(206);
    expect(middle.headers.get("content-range")).toBe(`bytes ${size - 100}-${size - 95}/${size}`);
    expect(await middle.text()).toBe("marker");
    expect((await (await range("bytes=-100")).text()).slice(0, 6)).toBe("marker");
    const beyond = await range(`bytes=${size}-`);
    expect(beyond.status).toBe(416);
    expect(beyond.headers.get("content-range")).toBe(`bytes */${size}`);
    expect(await problemType(beyond)).toBe("range_not_satisfiable");
    // If a reader stops early, at most one chunk was read in vain.
    const whole = await api.request(`GET ${content(id, "large")}`);
    expect(whole.headers.get("content-length")).toBe(String(size));
    const reader = whole.body?.getReader();
    expect((await reader?.read())?.value?.byteLength).toBeLessThanOrEqual(64 * 1024);
    await reader?.cancel();
  });

  test("conditions and types of a file", async () => {
    await using api = await start();
    const id = await createSession(api);
    await writeFile(join(api.root, "page.html"), "<script>alert(1)</script>");
    await writeFile(join(api.root, "image"), PNG);
    const first = await api.request(`GET ${content(id, "page.html")}`);
    const etag = first.headers.get("etag") ?? "";
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment; filename*=UTF-8''page.html",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "content-length": "25",
    });
    await first.body?.cancel();
    const get = async (headers: Record<string, string>): Promise<Response> =>
      api.request(`GET ${content(id, "page.html")}`, { headers });
    expect((await get({ "if-none-match": etag })).status).toBe(304);
    expect(await (await get({ "if-none-match": '"other"' })).text()).toContain("script");
    expect(await (await get({ range: "bytes=1-6", "if-range": etag })).text()).toBe("script");
    expect(await (await get({ range: "bytes=1-6", "if-range": '"other"' })).text()).toHaveLength(25);
    const image = await api.request(`GET ${content(id, "image")}`);
    expect(image.headers.get("content-type")).toBe("image/png");
    await image.body?.cancel();
    const empty = await api.request(`PUT ${content(id, "empty")}&wait=10000`, { body: "" });
    expect(await empty.json()).toMatchObject({ state: "done", result: { bytes: 0 } });
    expect(await (await api.request(`GET ${content(id, "empty")}`)).text()).toBe("");
  });

  test("the images of one message are limited together", async () => {
    await using api = await start({ fileLimits: { messageImageBytes: 2 * PNG.length } });
    const id = await createSession(api);
    const uploaded = await api.request(`POST /sessions/${id}/images`, { body: PNG });
    const part = { type: "uploadedImage", imageId: ((await uploaded.json()) as { id: string }).id };
    const send = async (count: number): Promise<Response> =>
      api.request(`POST /sessions/${id}/messages`, {
        json: { input: Array.from({ length: count }, () => part) },
      });
    expect((await send(2)).status).toBe(202);
    const refused = await send(3);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ type: "body_too_large" });
  });

  test("limits of bodies, images and open files", async () => {
    await using api = await start({ fileLimits: { writeBytes: 10, imageBytes: 10, openReads: 1 } });
    const id = await createSession(api);
    const large = "x".repeat(11);
    const chunked = { body: new Blob([large]).stream(), duplex: "half" } as RequestInit;
    for (const operation of [`PUT ${content(id, "made")}`, `POST /sessions/${id}/images`]) {
      for (const init of [{ body: large, headers: { "content-length": "11" } }, { ...chunked }]) {
        const body = init.body instanceof ReadableStream ? new Blob([large]).stream() : init.body;
        const response = await api.request(operation, { ...init, body } as RequestInit);
        expect(await problemType(response)).toBe("body_too_large");
      }
    }
    expect(await readdir(join(api.stateFolder, "staging"))).toEqual([]);
    await writeFile(join(api.root, "file"), "text");
    const held = await api.request(`GET ${content(id, "file")}`);
    const refused = await api.request(`GET ${content(id, "file")}`);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(await problemType(refused)).toBe("too_many_connections");
    // Neither needs a body.
    expect((await api.request(`HEAD ${content(id, "file")}`)).status).toBe(200);
    await held.body?.cancel();
    expect(await (await api.request(`GET ${content(id, "file")}`)).text()).toBe("text");
  });

  test("clients that disconnect leave no file open, at any moment", async () => {
    await using api = await start({ fileLimits: { openReads: 4 } });
    const id = await createSession(api);
    await writeFile(join(api.root, "large"), "");
    await truncate(join(api.root, "large"), 10 * 1024 ** 3);
    const client = await api.listen();
    const port = Number(new URL(api.daemon.url ?? "").port);
    const request = [
      `GET /sessions/${id}/files/content?path=large HTTP/1.1`,
      "host: localhost",
      `authorization: Bearer ${api.token}`,
    ].join("\r\n");
    const leave = async (when: "at once" | "after a moment" | "during the body"): Promise<void> => {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      socket.write(`${request}\r\n\r\n`);
      if (when === "after a moment") await new Promise((resolve) => setImmediate(resolve));
      if (when === "during the body") await once(socket, "data");
      socket.destroy();
    };
    for (let round = 0; round < 8; round += 1) {
      for (const when of ["at once", "after a moment", "during the body"] as const) await leave(when);
      await pollUntil(async () =>
        client
          .files(id)
          .read("large", { start: 0, end: 1 })
          .then(
            () => true,
            () => false,
          ),
      );
    }
    const links = (await readdir("/proc/self/fd")).map((fd) =>
      readlink(`/proc/self/fd/${fd}`).catch(() => ""),
    );
    expect((await Promise.all(links)).filter((path) => path === join(api.root, "large"))).toEqual([]);
  });

  test("a HEAD request leaves no stream open", async () => {
    await using api = await start();
    const id = await createSession(api);
    for (const path of [`/sessions/${id}/files/changes`, `/sessions/${id}/events`, "/events"]) {
      const response = await api.request(`HEAD ${path}`, { headers: { accept: "text/event-stream" } });
      expect([response.status, await response.text()]).toEqual([200, ""]);
    }
    const { streams } = (await (await api.request("GET /diagnostics")).json()) as { streams: object };
    expect(streams).toEqual({ sessions: 0, multiplexed: 0, files: 0, threads: 0 });
  });

  test("sessions in an execution environment have no files on the daemon", async () => {
    await using api = await start();
    const id = await createSession(api, { environment: { url: "ws://sandbox.example" } });
    for (const path of ["", "/content?path=a", "/changes", "/search?query=a"]) {
      expect(await problemType(await api.request(`GET /sessions/${id}/files${path}`))).toBe(
        "files_unavailable",
      );
    }
  });

  test("the client lists, reads, writes, watches and uploads", async () => {
    await using api = await start();
    const client = await api.listen();
    const files = client.files(await createSession(api));
    const written = await files.write("a b%.txt", "hello world", { isNew: true });
    expect(await files.stat("a b%.txt")).toEqual({
      size: 11,
      etag: written.etag,
      type: "application/octet-stream",
    });
    const part = await files.read("a b%.txt", { start: 6, end: 8 });
    expect(part).toMatchObject({
      start: 6,
      size: 11,
      etag: written.etag,
      bytes: new TextEncoder().encode("wo"),
    });
    expect(new TextDecoder().decode((await files.read("a b%.txt")).bytes)).toBe("hello world");
    expect(await new Response(await files.stream("a b%.txt")).text()).toBe("hello world");
    await expect(files.stat("none")).rejects.toMatchObject({ code: "file_not_found", status: 404 });
    await expect(files.write("a b%.txt", "x", { ifMatch: '"old"' })).rejects.toMatchObject({
      code: "precondition_failed",
    });
    const names: string[] = [];
    for await (const { name } of files.entries()) names.push(name);
    expect(names).toEqual(["a b%.txt"]);
    const stop = new AbortController();
    const seen: WatchedFileChange[] = [];
    for await (const change of files.changes(".", { signal: stop.signal })) {
      seen.push(change);
      if (change.type === "watching") await files.write("new", "");
      if (change.type === "changed" && change.paths.includes(join(api.root, "new"))) break;
    }
    expect(seen[0]).toEqual({ type: "watching", path: api.root, folders: 1, isComplete: true });
    stop.abort();
    expect(await files.search("new")).toEqual([]);
    const image = await files.uploadImage(new Blob([PNG]));
    expect(image.type).toBe("image/png");
  });
});
