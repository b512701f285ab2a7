import { type TempFolder, tempFolder } from "@codexkit/testing";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli, startCli } from "../../test/cli-process.ts";

interface ServedDaemon extends AsyncDisposable {
  readonly started: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly stderr: Promise<string>;
  /** Signals the program and resolves to its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

async function startServe(
  home: string,
  ...given: (string | Record<string, string>)[]
): Promise<ServedDaemon> {
  const args = given.filter((arg) => typeof arg === "string");
  const variables = given.filter((arg) => typeof arg === "object");
  const env: Record<string, string> = Object.assign({ HOME: home }, ...variables);
  const child = startCli(["serve", "--json", "--listen", ":0", ...args], { cwd: home, env });
  const ended = once(child, "close");
  const stderr = text(child.stderr);
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [unknown];
  if (typeof line !== "string") throw new Error(`serve ended with ${child.exitCode}: ${await stderr}`);
  const started = JSON.parse(line) as Record<string, unknown>;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    started,
    url: String(started["url"]),
    stderr,
    end,
    [Symbol.asyncDispose]: async () => void (child.exitCode ?? (await end("SIGTERM"))),
  };
}

describe("a served daemon", () => {
  let home: TempFolder;
  let daemon: ServedDaemon;
  const cli = async (args: string[], env: Record<string, string> = {}) =>
    runCli(args, { cwd: home.path, env: { HOME: home.path, ...env } });

  beforeAll(async () => {
    home = await tempFolder("serve");
    daemon = await startServe(home.path, "--demo");
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test("prints where it is as JSON", () => {
    const stateFolder = join(home.path, ".codexkit/demo-daemon");
    expect(daemon.started).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      consoleUrl: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:\d+\/console\/login#code=ckl_[\w-]{22}$/,
      ) as string,
      pid: expect.any(Number) as number,
      tokenFile: join(stateFolder, "token"),
      stateFolder,
      store: "sqlite",
      roots: [home.path],
      credentials: { kind: "none" },
      isDemo: true,
    });
  });

  test("serves the console, and links that log one browser in", async () => {
    const { exitCode, stdout } = await cli(["console", "--scope", "read", "--json"]);
    expect(exitCode).toBe(0);
    const { url } = JSON.parse(stdout) as { url: string };
    expect(new URL(url).pathname).toBe("/console/login");
    expect((await fetch(url)).headers.get("content-type")).toContain("text/html");
    const code = new URLSearchParams(new URL(url).hash.slice(1)).get("code");
    const login = async () =>
      fetch(`${daemon.url}/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      });
    expect(await (await login()).json()).toMatchObject({ name: "first (browser)", scopes: ["read"] });
    expect((await login()).status).toBe(401);
  });

  test("has a state file that only its owner can read, without the token", async () => {
    const folder = join(home.path, ".codexkit/daemons");
    const [name = ""] = await readdir(folder);
    const state = await readFile(join(folder, name), "utf8");
    const token = (await readFile(String(daemon.started["tokenFile"]), "utf8")).trim();

    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(state)).toMatchObject({ url: daemon.url, pid: daemon.started["pid"] });
    expect(state).not.toContain(token);
  });

  test("is found by other commands, and stale state files are removed", async () => {
    const stale = join(home.path, ".codexkit/daemons/999999.json");
    await writeFile(
      stale,
      JSON.stringify({
        url: "http://127.0.0.1:9",
        pid: 999_999,
        processStart: "gone",
        tokenFile: null,
        stateFolder: "/",
        isDemo: false,
        startedAt: 1,
      }),
    );
    const { exitCode, stdout, stderr } = await cli(["token", "list", "--json"]);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    // One token per line: a browser that has logged in has one too.
    const tokens = stdout.trimEnd().split("\n");
    expect(tokens.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({ name: "first" }),
    );
    expect(existsSync(stale)).toBe(false);
  });

  test("with a wrong token, the error names the address and the fix", async () => {
    expect(await cli(["token", "list"], { CODEXKIT_TOKEN: "ckd_wrong" })).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        `error: The daemon at ${daemon.url} does not accept the token.\n` +
        "Set CODEXKIT_TOKEN, or pass --token-file. With a token that has the scope admin, `codexkit token create` creates one.\n",
    });
  });

  test("a malformed token is refused, and not printed", async () => {
    expect(await cli(["token", "list"], { CODEXKIT_TOKEN: "ckd_se\ncret" })).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "error: CODEXKIT_TOKEN is not a token, because it contains spaces, line breaks or other invalid characters.\n",
    });
  });

  test("its token is not sent to another address", async () => {
    const received: string[] = [];
    const other = createServer((socket) => {
      socket.on("data", (data) => {
        received.push(String(data));
        socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
      });
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const url = `http://127.0.0.1:${(other.address() as { port: number }).port}`;
    const { exitCode, stderr } = await cli(["token", "list", "--url", url]);
    other.close();

    expect(exitCode).toBe(1);
    expect(stderr).toContain("Check the URL. It is not the URL of a codexkit daemon.");
    expect(received.join("")).not.toMatch(/authorization/i);
  });

  test("a second one on the same store, or on a busy port, says what to do", async () => {
    const { port } = new URL(daemon.url);
    const [sameStore, samePort] = await Promise.all([
      cli(["serve", "--demo", "--listen", ":0"]),
      cli(["serve", "--demo", "--store", "other", "--listen", port]),
    ]);

    expect(sameStore).toMatchObject({ exitCode: 1, stdout: "" });
    expect(sameStore.stderr).toMatch(
      /^error: .*\nUse that daemon, or choose another folder with --store\.\n$/,
    );
    expect(samePort).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        `error: The daemon can't listen on 127.0.0.1:${port} (EADDRINUSE).\n` +
        "Another program uses this port. Choose another one with --listen, or let the system choose with --listen :0.\n",
    });
  });

  test("ends with 0 on SIGTERM and removes its state file", async () => {
    expect(await daemon.end("SIGTERM")).toBe(0);
    expect(await readdir(join(home.path, ".codexkit/daemons"))).toEqual([]);
  });
});

// These tests mostly wait for processes, and the last one for the timeout of a connection, so they run concurrently.
test.concurrent("a token file is created, and one of another store is refused", async () => {
  await using home = await tempFolder("serve");
  const tokenFile = join(home.path, "keys/token");
  const args = ["--demo", "--store", "state", "--token-file", tokenFile];
  await using daemon = await startServe(home.path, ...args);
  const token = (await readFile(tokenFile, "utf8")).trim();
  const env = { HOME: home.path, CODEXKIT_URL: daemon.url, CODEXKIT_TOKEN: token };

  expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
  expect((await runCli(["token", "list"], { env })).exitCode).toBe(0);
  const own = (await runCli(["token", "list", "--json"], { env })).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; name: string })
    .find(({ name }) => name.startsWith("codexkit serve"));
  const id = String(own?.id);
  const refused = await runCli(["token", "revoke", id], { env });
  const revoked = await runCli(["token", "revoke", "--yes", id], { env });
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  expect(refused.stderr).toContain("`codexkit serve --token-file NEW` creates a new one.");
  expect(revoked).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await daemon.end("SIGINT")).toBe(0);

  const other = await runCli(["serve", ...args, "--store", "other", "--listen", ":0"], {
    cwd: home.path,
    env: { HOME: home.path },
  });
  expect(other).toEqual({
    exitCode: 2,
    stdout: "",
    stderr:
      `error: The token in ${tokenFile} is not a valid token of this store.\n` +
      "Delete the file to get a new one, or name another file.\n",
  });
});

test.concurrent("prints shared roots as roots, and warns about options that need Postgres", async () => {
  await using home = await tempFolder("serve");
  const shared = join(home.path, "shared");
  await mkdir(shared);
  const args = ["--demo", "--store", "state", "--shared-root", `projects=${shared}`];
  await using daemon = await startServe(home.path, ...args, "--advertise", "http://10.0.0.7:4100");
  expect(daemon.started["roots"]).toEqual([shared]);
  await daemon.end("SIGTERM");
  expect(await daemon.stderr).toContain(
    "warning: --advertise and --shared-root are for nodes that share a store in Postgres. This daemon uses SQLite.\n",
  );
});

test.concurrent("warns that --demo does not use CODEXKIT_STORE", async () => {
  await using home = await tempFolder("serve");
  await using daemon = await startServe(home.path, { CODEXKIT_STORE: "postgres://nowhere/db" }, "--demo");
  expect(daemon.started["store"]).toBe("sqlite");
  await daemon.end("SIGTERM");
  expect(await daemon.stderr).toContain(
    'warning: CODEXKIT_STORE is not used with --demo, so that no scripted model works on its sessions.\nPass --store "$CODEXKIT_STORE" to use that store.\n',
  );
});

test.concurrent("a store that can't be reached is reported in two lines", async () => {
  await using home = await tempFolder("serve");
  const store = "postgres://user@127.0.0.1:1/db";
  const result = await runCli(["serve", "--demo", "--store", store, "--listen", ":0"], {
    cwd: home.path,
    env: { HOME: home.path },
  });
  expect(result).toMatchObject({ exitCode: 1, stdout: "" });
  expect(result.stderr).toMatch(
    /^error: .*\nCheck the URL passed to --store, and that the database is running\.\n$/,
  );
});

describe("without a daemon", () => {
  test.each([
    [[], "No daemon is running on this machine.", 1],
    [["--url", "http://127.0.0.1:2"], "The daemon at http://127.0.0.1:2 can't be reached (ECONNREFUSED).", 1],
    [["--url", "daemon"], '"daemon" is not the URL of a daemon.', 2],
    [["--token-file", "missing"], "The token file missing can't be read (ENOENT).", 2],
  ])("%j: %s", async (args, message, exitCode) => {
    await using home = await tempFolder("serve");
    const result = await runCli(["token", "list", ...args], { cwd: home.path, env: { HOME: home.path } });

    expect(result).toMatchObject({ exitCode, stdout: "" });
    expect(result.stderr).toContain(message);
    expect(result.stderr.split("\n").length).toBeLessThanOrEqual(3);
  });
});

test.each([
  [["--listen", "nowhere"], "Expected HOST:PORT", 2],
  [["--root", "missing"], 'missing" is not a folder, or does not exist.', 2],
  [["--store", "mysql://db"], "--store expects a folder or a postgres:// URL, but received mysql://.", 2],
  [["--no-auth", "--listen", "0.0.0.0:0"], "without tokens would let anyone run commands", 2],
  [["--no-auth", "--listen", "0.0.0.0:0"], "--no-auth", 2],
  [["--advertise", "foo"], "'--advertise <url>' argument 'foo' is invalid. Expected an http or https URL", 2],
  [["--store", "file/store"], "can't be created", 2],
  // Node's recursive mkdir tries this one forever.
  [["--store", "/proc/nope"], "can't be created", 2],
])("serve %j: %s", async (args, message, exitCode) => {
  await using home = await tempFolder("serve");
  await mkdir(join(home.path, "empty"));
  await writeFile(join(home.path, "file"), "");
  const result = await runCli(["serve", ...args], { cwd: home.path, env: { HOME: home.path } });

  expect(result).toMatchObject({ exitCode, stdout: "" });
  expect(result.stderr).toContain(message);
});
