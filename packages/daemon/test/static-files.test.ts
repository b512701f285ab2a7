import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDaemon } from "../src/create-daemon.ts";
import { StaticFiles } from "../src/http/static-files.ts";
import { useDatabases } from "./database-fixture.ts";
import { startTestDaemon, type TestDaemon } from "./test-daemon.ts";

const SCRIPT = "export const value = 1;\n".repeat(50);
let folder = "";
beforeAll(async () => {
  const parent = await mkdtemp(join(tmpdir(), "codexkit-static-"));
  folder = join(parent, "page");
  await mkdir(join(folder, "assets/deep"), { recursive: true });
  const write = async (name: string, data: string | Uint8Array): Promise<void> =>
    writeFile(join(folder, name), data);
  await write(
    "index.html",
    '<!doctype html><html><head><meta name="console-nonce" content="" /></head><body></body></html>',
  );
  await write("assets/main-abc123.js", SCRIPT);
  await write("assets/main-abc123.js.br", brotliCompressSync(SCRIPT));
  await write("assets/main-abc123.js.gz", gzipSync(SCRIPT));
  await write("assets/only-gzip.css", "a{}");
  await write("assets/only-gzip.css.gz", gzipSync("a{}"));
  await write("icons.svg", "<svg/>");
  await write("manifest.webmanifest", "{}");
  await write(".secret", "hidden");
  await write("../outside.txt", "outside");
  await symlink(join(parent, "outside.txt"), join(folder, "link.txt"));
  await symlink(parent, join(folder, "folder-link"));
});
afterAll(async () => rm(join(folder, ".."), { recursive: true, force: true }));

const databases = useDatabases("sqlite");

async function start(): Promise<TestDaemon> {
  return startTestDaemon(await databases.open(), { staticFiles: await StaticFiles.open(folder) });
}

const ANONYMOUS = { authorization: "" };

describe("static files", () => {
  test("are a public page with a new nonce per response and the strictest headers", async () => {
    await using api = await start();
    const nonces = new Set<string>();
    for (const path of ["/console/", "/console/index.html", "/console/s/some-id", "/console/inbox"]) {
      const response = await api.request(`GET ${path}`, { headers: ANONYMOUS });
      expect([path, response.status]).toEqual([path, 200]);
      const [, nonce = ""] =
        /<meta name="console-nonce" content="([^"]+)">/.exec(await response.text()) ?? [];
      nonces.add(nonce);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        etag: expect.stringMatching(/^"/),
        "content-security-policy": `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
        "permissions-policy": expect.stringMatching(/camera=\(\).*, clipboard-write=\(self\)$/),
      });
      expect(response.headers.get("content-security-policy")).not.toContain("unsafe");
    }
    expect(nonces.size).toBe(4);
    expect((await api.request("GET /sessions", { headers: ANONYMOUS })).status).toBe(401);
  });

  test("keep the nonce of their header in the browser's cache", async () => {
    await using api = await start();
    const etag = (await api.request("GET /console/")).headers.get("etag") ?? "";
    const cached = await api.request("GET /console/login", { headers: { "if-none-match": `W/${etag}` } });
    expect(cached.status).toBe(304);
    expect(cached.headers.has("content-security-policy")).toBe(false);
    await writeFile(join(folder, "index.html"), "<html><head></head></html>");
    const changed = await api.request("GET /console/login", { headers: { "if-none-match": etag } });
    expect(await changed.text()).toMatch(/<meta name="console-nonce" content="[^"]+"><\/head>/);
  });

  test("are sent in the best encoding that is available and accepted", async () => {
    await using api = await start();
    const get = async (path: string, encoding: string) =>
      api.request(`GET /console/assets/${path}`, { headers: { "accept-encoding": encoding } });
    const br = await get("main-abc123.js", "gzip, br");
    expect(Object.fromEntries(br.headers)).toMatchObject({
      "content-encoding": "br",
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      "cross-origin-embedder-policy": "require-corp",
    });
    expect(brotliDecompressSync(await br.bytes()).toString()).toBe(SCRIPT);
    const gzip = await get("main-abc123.js", "br;q=0.1, gzip");
    expect(gunzipSync(await gzip.bytes()).toString()).toBe(SCRIPT);
    const plain = await get("main-abc123.js", "identity");
    expect(plain.headers.has("content-encoding")).toBe(false);
    expect(await plain.text()).toBe(SCRIPT);
    expect(new Set([br, gzip, plain].map(({ headers }) => headers.get("etag"))).size).toBe(3);
    const fallback = await get("only-gzip.css", "br, gzip;q=0.5");
    expect(fallback.headers.get("content-encoding")).toBe("gzip");
    const cached = await api.request("GET /console/assets/main-abc123.js", {
      headers: { "accept-encoding": "br", "if-none-match": br.headers.get("etag") ?? "" },
    });
    expect(cached.status).toBe(304);
  });

  test("have the right content types, and allow only GET and HEAD", async () => {
    await using api = await start();
    for (const [path, type] of [
      ["icons.svg", "image/svg+xml; charset=utf-8"],
      ["manifest.webmanifest", "application/manifest+json"],
      ["assets/only-gzip.css", "text/css; charset=utf-8"],
    ]) {
      const response = await api.request(`GET /console/${path}`);
      expect([path, response.headers.get("content-type")]).toEqual([path, type]);
    }
    const head = await api.request("HEAD /console/icons.svg");
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "6", ""]);
    const post = await api.request("POST /console/icons.svg");
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("don't include files outside the folder, hidden files and links", async () => {
    await using api = await start();
    const client = await api.listen();
    expect(client).toBeDefined();
    const url = new URL(api.daemon.url ?? "");
    // `fetch` would resolve the dots before it sends them.
    const statusOf = async (path: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = sendRequest({ host: url.hostname, port: url.port, path }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.on("error", reject);
        sent.end();
      });
    for (const path of [
      "/console/../outside.txt",
      "/console/..%2foutside.txt",
      "/console/%2e%2e/outside.txt",
      "/console/%2e%2e%2foutside.txt",
      "/console/assets/..%5c..%5coutside.txt",
      "/console//etc/passwd.txt",
      "/console/link.txt",
      "/console/folder-link/outside.txt",
      "/console/.secret",
      "/console/assets/.secret",
      "/console/assets/deep",
      "/console/assets/missing",
      "/console/missing.js",
      "/console/icons.svg%00.js",
      "/console/%zz",
    ]) {
      expect([path, await statusOf(path)]).toEqual([path, 404]);
    }
  });

  test("redirect / to the page, which other sites may link to, but not embed or fetch", async () => {
    await using api = await start();
    for (const path of ["/", "/console"]) {
      const response = await api.request(`GET ${path}?a=b`, { headers: ANONYMOUS });
      expect([response.status, response.headers.get("location")]).toEqual([302, "/console/?a=b"]);
    }
    const open = async (path: string, mode: string, dest: string): Promise<number> => {
      const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest };
      return (await api.request(`GET ${path}`, { headers })).status;
    };
    expect(await open("/console/inbox", "navigate", "document")).toBe(200);
    expect(await open("/console/inbox", "navigate", "iframe")).toBe(403);
    expect(await open("/console/icons.svg", "no-cors", "image")).toBe(403);
    expect(await open("/sessions", "navigate", "document")).toBe(403);
    const rebound = await api.request("GET /console/", { headers: { host: "evil.example" } });
    expect(rebound.status).toBe(403);
  });

  test("are off by default, and require a page", async () => {
    await using api = await startTestDaemon(await databases.open());
    expect((await api.request("GET /")).status).toBe(404);
    expect((await api.request("GET /console/")).status).toBe(404);
    await expect(createDaemon({ staticFiles: join(folder, "assets") })).rejects.toMatchObject({
      code: "bad_options",
      message: expect.stringContaining("has no readable index.html"),
    });
  });
});
