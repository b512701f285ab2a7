import { createHmac } from "node:crypto";
import { request } from "node:http";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findCodex, OwnedProcess, tempFolder } from "@codexkit/testing";
import { OUR_BIN, startProgram } from "./servers.ts";
import { RawClient } from "./raw-client.ts";
import { ExecClient } from "../src/client/exec-client.ts";
import { ExecServer } from "../src/server/exec-server.ts";
import { parseListenUrl } from "../src/server/listen-url.ts";
import { sha256Hex } from "../src/server/ws-auth.ts";

function status(
  url: string,
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request(`${url.replace("ws:", "http:")}${path}`, options, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  })
    .on("error", reject)
    .end();
  return promise;
}

describe.each(["ours", "codex"] as const)("the HTTP side of %s", (kind) => {
  test("answers /readyz, and refuses all else", async () => {
    await using server = await startProgram(kind, []);
    expect(server.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
    expect(await status(server.url, "/readyz")).toBe(200);
    expect(await status(server.url, "/readyz", { method: "HEAD" })).toBe(200);
    expect(await status(server.url, "/readyz", { method: "POST" })).toBe(405);
    expect(await status(server.url, "/")).toBe(400);
    expect(await status(server.url, "/healthz")).toBe(404);
    expect(await status(server.url, "/readyz", { headers: { origin: "http://evil" } })).toBe(403);
    await expect(RawClient.open(server.url, { origin: "http://evil" })).rejects.toThrow(/403/);
    using client = await RawClient.ready(`${server.url}/?query=ignored`);
    expect((await client.call("environment/status")).result).toEqual({ status: "ready" });
  });
});

const SECRET = "a secret of at least thirty-two bytes";

function jwt(
  claims: object,
  {
    alg = "HS256",
    secret = SECRET,
    header = JSON.stringify({ alg, typ: "JWT" }),
    payload = JSON.stringify(claims),
  } = {},
): string {
  const part = (text: string) => Buffer.from(text).toString("base64url");
  const signed = `${part(header)}.${part(payload)}`;
  const hash = alg === "HS512" ? "sha512" : "sha256";
  return `${signed}.${createHmac(hash, secret).update(signed).digest("base64url")}`;
}

/** The same signature with another last character: of its six bits, only four are used. */
function withOtherLastBits(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.slice(-1)) + 1];
}

describe.each(["ours", "codex"] as const)("auth of %s", (kind) => {
  const opens = (url: string, token?: string) =>
    ExecClient.connect(url, token === undefined ? {} : { token }).then(
      async (client) => {
        await client.close();
        return true;
      },
      () => false,
    );

  test("by capability token", async () => {
    await using server = await startProgram(kind, [
      "--ws-auth",
      "capability-token",
      "--ws-token-sha256",
      sha256Hex("right"),
    ]);
    expect([
      await opens(server.url, "right"),
      await opens(server.url, "wrong"),
      await opens(server.url),
    ]).toEqual([true, false, false]);
    await expect(RawClient.open(server.url, { authorization: "Bearer\tright" })).rejects.toThrow(/401/);
    await expect(RawClient.open(server.url)).rejects.toThrow(/401/);
    expect(await status(server.url, "/readyz")).toBe(200);
  });

  test("by signed token", async () => {
    await using folder = await tempFolder("secret");
    const file = join(folder.path, "secret");
    await writeFile(file, `${SECRET}\n`);
    const flags = [
      "--ws-auth",
      "signed-bearer-token",
      "--ws-shared-secret-file",
      file,
      "--ws-issuer",
      "me",
      "--ws-audience",
      "you",
    ];
    await using server = await startProgram(kind, flags);
    const now = Math.floor(Date.now() / 1000);
    const good = { exp: now + 60, iss: "me", aud: ["x", "you"] };
    const tokens: [string, boolean][] = [
      [jwt(good), true],
      [jwt({ ...good, aud: "you", nbf: now + 10 }), true],
      [jwt({ ...good, exp: now + 60.5 }), false],
      [jwt({ ...good, exp: now - 10 }), true],
      [jwt({ ...good, exp: now - 60 }), false],
      [jwt({ ...good, nbf: now + 60 }), false],
      [jwt({ iss: "me", aud: "you" }), false],
      [jwt({ ...good, iss: "other" }), false],
      [jwt({ ...good, aud: "other" }), false],
      [jwt(good, { alg: "HS512" }), false],
      [jwt(good, { alg: "none" }), false],
      [jwt(good, { secret: "another secret of thirty-two bytes or more" }), false],
      [jwt({ ...good, nbf: 0.5 }), false],
      [jwt({ ...good, aud: [1, "you"] }), false],
      [withOtherLastBits(jwt(good)), false],
      [jwt(good, { header: '{"alg":"none","alg":"HS256"}' }), false],
      [jwt(good, { header: '{"alg":"HS256","typ":["JWT"]}' }), false],
      [`${jwt(good)}=`, false],
      [`${jwt(good)}.`, false],
      [jwt({}, { payload: `{"exp":1,"exp":${now + 60},"iss":"me","aud":"you"}` }), false],
      ["nonsense", false],
    ];
    for (const [token, expected] of tokens) expect(await opens(server.url, token)).toBe(expected);
  });
});

describe("what a server refuses to start with", () => {
  test.each([
    [["--listen", "http://127.0.0.1:0"]],
    [["--listen", "ws://localhost:0"]],
    [["--ws-token-sha256", "00"]],
    [["--ws-auth", "capability-token"]],
    [["--ws-auth", "capability-token", "--ws-token-sha256", "zz"]],
    [["--ws-auth", "capability-token", "--ws-token-sha256", "0".repeat(64), "--ws-issuer", "x"]],
    [["--ws-auth", "capability-token", "--ws-token-file", "relative"]],
    [["--ws-auth", "signed-bearer-token"]],
    [["--listen", "stdio", "--ws-auth", "capability-token", "--ws-token-sha256", "0".repeat(64)]],
    [["--nonsense"]],
  ])("%j", async (flags) => {
    await using program = new OwnedProcess({
      command: process.execPath,
      args: [...OUR_BIN, ...flags],
      env: process.env,
    });
    const end = await program.ended;
    expect(end.code).toBe(2);
    expect(program.stderrTail).toMatch(/^codexkit-exec-server: /);
  });

  test("an address that others can reach, without auth", async () => {
    await expect(ExecServer.start({ listen: "ws://0.0.0.0:0" })).rejects.toMatchObject({
      code: "bad_option",
    });
    await using server = await ExecServer.start({
      listen: "ws://0.0.0.0:0",
      auth: { mode: "capability-token", tokenSha256: sha256Hex("t") },
    });
    expect(server.url).toMatch(/^ws:\/\/0\.0\.0\.0:\d+$/);
    await using open = await ExecServer.start({ listen: "ws://0.0.0.0:0", allowUnauthenticatedRemote: true });
    expect(open.url).toMatch(/^ws:/);
  });
});

test("--help says what there is", async () => {
  await using program = new OwnedProcess({
    command: process.execPath,
    args: [...OUR_BIN, "--help"],
    env: process.env,
  });
  let text = "";
  program.child.stdout.on("data", (bytes: Buffer) => (text += String(bytes)));
  expect((await program.ended).code).toBe(0);
  expect(text).toContain("--listen URL");
});

test("listen addresses are read as Codex reads them", () => {
  expect(parseListenUrl("stdio")).toEqual({ kind: "stdio" });
  expect(parseListenUrl("stdio://")).toEqual({ kind: "stdio" });
  expect(parseListenUrl("ws://127.0.0.1:80")).toEqual({ kind: "ws", host: "127.0.0.1", port: 80 });
  expect(parseListenUrl("ws://[::1]:0")).toEqual({ kind: "ws", host: "::1", port: 0 });
  for (const bad of [
    "",
    "ws://localhost:1",
    "wss://127.0.0.1:1",
    "ws://127.0.0.1",
    "ws://127.0.0.1:99999",
    "unix:///x",
  ]) {
    expect(() => parseListenUrl(bad)).toThrow(/expects ws:/);
  }
});

describe.each(["ours", "codex"] as const)("stdio of %s", (kind) => {
  test("serves one client, with long lines and CRLF, and ends with it", async () => {
    const command = kind === "ours" ? process.execPath : findCodex().path;
    const args = kind === "ours" ? [...OUR_BIN, "--listen", "stdio"] : ["exec-server", "--listen", "stdio"];
    await using folder = await tempFolder("stdio");
    await using client = await ExecClient.launch({
      command,
      args,
      env: { ...process.env, CODEX_HOME: folder.path },
    });
    const started = await client.start({ argv: ["/bin/echo", "over stdio"], cwd: "/" });
    expect(String((await started.collect()).stdout)).toBe("over stdio\n");
    const big = Buffer.alloc(5_000_000, "x");
    await client.files.write(join(folder.path, "big"), big);
    expect((await client.files.read(join(folder.path, "big"))).equals(big)).toBe(true);
  });
});
