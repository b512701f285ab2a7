import { OwnedProcess, tempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OUR_BIN, startProgram } from "../../test/servers.ts";
import { ExecClient } from "../client/exec-client.ts";
import { parseCommandLine } from "./command-line.ts";

const ROOT = join(import.meta.dirname, "../..");

async function failure(...flags: string[]): Promise<string> {
  await using program = new OwnedProcess({
    command: process.execPath,
    args: [...OUR_BIN, ...flags],
    env: process.env,
  });
  expect((await program.ended).code).toBe(2);
  return program.stderrTail;
}

test("flags become options", () => {
  const flags = [
    "--listen",
    "ws://127.0.0.1:0",
    "--log-level",
    "debug",
    "--allowed-host",
    "a",
    "--allowed-host",
    "b",
  ];
  expect(parseCommandLine(flags)).toMatchObject({
    kind: "serve",
    logLevel: "debug",
    options: { listen: "ws://127.0.0.1:0", allowedHosts: ["a", "b"] },
  });
  expect(parseCommandLine([])).toMatchObject({ logLevel: "warn", options: { allowedHosts: [] } });
  expect(parseCommandLine(["-h"])).toEqual({ kind: "help" });
  expect(() => parseCommandLine(["--log-level", "loud"])).toThrow(
    '--log-level expects one of debug, info, warn, error, silent, but received "loud".',
  );
});

test("--version prints the version of the package and of the protocol", async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
  const printed = execFileSync(process.execPath, [...OUR_BIN, "--version"], { encoding: "utf8" });
  expect(printed).toBe(`codexkit-exec-server ${version} (protocol of Codex 0.166.0)\n`);
});

describe("an error names the flag, the value and the reason", () => {
  test("for a port in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const url = `ws://127.0.0.1:${port}`;
    expect(await failure("--listen", url)).toContain(`The server can't listen on ${url} (EADDRINUSE).`);
    other.close();
  });

  test("for a token file that can't be read", async () => {
    await using folder = await tempFolder("token");
    const missing = join(folder.path, "missing");
    const stderr = await failure("--ws-auth", "capability-token", "--ws-token-file", missing);
    expect(stderr).toContain(`--ws-token-file: ${missing} can't be read (ENOENT).`);
  });

  test("for a bubblewrap that does not work", async () => {
    await using folder = await tempFolder("bwrap");
    const broken = join(folder.path, "bwrap");
    await writeFile(broken, "#!/bin/sh\nexit 1\n");
    await chmod(broken, 0o755);
    expect(await failure("--bwrap", broken)).toContain(`--bwrap ${broken} is not a bubblewrap`);
    expect(await failure("--bwrap", join(folder.path, "missing"))).toContain("--bwrap");
    expect(await failure("--bwrap", "/bin/true")).toContain("--bwrap /bin/true");
  });

  test("for an unknown flag", async () => {
    expect(await failure("--lisen", "stdio")).toContain("'--lisen'");
    expect(await failure("--lisen", "stdio")).toContain("--help");
  });
});

test("the log is JSON lines on stderr, without tokens, arguments or environment", async () => {
  const flags = [
    "--ws-auth",
    "capability-token",
    "--ws-token-sha256",
    "0".repeat(64),
    "--log-level",
    "debug",
  ];
  await using server = await startProgram("ours", flags, {
    SECRET_OF_THE_SERVER: "hidden-in-the-environment",
  });
  await ExecClient.connect(server.url, { token: "hidden-token" }).catch(() => {});
  await server.process?.stop("SIGTERM");
  const lines = (server.process?.stderrTail ?? "").trim().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { level: string; message: string });
  expect(records.map(({ message }) => message)).toEqual(
    expect.arrayContaining(["listening", "upgrade refused", "stopping"]) as string[],
  );
  expect(lines.join("\n")).not.toMatch(/hidden/);
});

describe("the installed program", () => {
  const bin = join(ROOT, "bin/codexkit-exec-server.mjs");

  test("says which Node it needs instead of failing to parse", async () => {
    const source = await readFile(bin, "utf8");
    await using folder = await tempFolder("bin");
    // Node reports its version here as an older one would.
    const program = `Object.defineProperty(process.versions, "node", { value: "18.20.0" });\n${source.replace(/^#!.*\n/, "")}`;
    const path = join(folder.path, "old.mjs");
    await writeFile(path, program);
    await using run = new OwnedProcess({ command: process.execPath, args: [path], env: process.env });
    expect((await run.ended).code).toBe(1);
    expect(run.stderrTail).toContain("needs Node 24 or newer, but this is Node 18.20.0.");
  });

  test("says what to do in a checkout that is not built", async () => {
    await using folder = await tempFolder("bin");
    await mkdir(join(folder.path, "bin"));
    const path = join(folder.path, "bin", "program.mjs");
    await writeFile(path, await readFile(bin, "utf8"));
    await using run = new OwnedProcess({ command: process.execPath, args: [path], env: process.env });
    expect((await run.ended).code).toBe(1);
    expect(run.stderrTail).toContain("Run `npm run build` first.");
  });

  test("runs with allocator settings of its own, in the process that was started", async () => {
    await using folder = await tempFolder("bin");
    await mkdir(join(folder.path, "bin"));
    await mkdir(join(folder.path, "dist/bin"), { recursive: true });
    const path = join(folder.path, "bin", "program.mjs");
    await writeFile(path, await readFile(bin, "utf8"));
    await writeFile(
      join(folder.path, "dist/bin/main.js"),
      "console.error(process.pid, typeof gc, process.argv[2], process.env.GLIBC_TUNABLES)",
    );
    const run = new OwnedProcess({
      command: process.execPath,
      args: [path, "--flag"],
      env: { PATH: "/bin" },
    });
    await using _run = run;
    expect((await run.ended).code).toBe(0);
    expect(run.stderrTail.trim()).toMatch(
      new RegExp(`^${run.child.pid} function --flag glibc\\.malloc\\.mmap_threshold=81920:`),
    );
  });
});

test("commands don't inherit the allocator settings of the server", async () => {
  const settings = {
    GLIBC_TUNABLES: "glibc.malloc.trim_threshold=1048576",
    CODEXKIT_EXEC_TUNABLES: "1",
    KEPT: "yes",
  };
  await using server = await startProgram("ours", [], settings);
  await using client = await ExecClient.connect(server.url);
  const command = await client.start({
    argv: ["/usr/bin/env"],
    cwd: "/",
    env: {},
    envPolicy: { inherit: "all", ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
  });
  const { stdout } = await command.collect();
  expect(String(stdout)).toContain("KEPT=yes");
  expect(String(stdout)).not.toMatch(/GLIBC_|CODEXKIT_EXEC/);
});
