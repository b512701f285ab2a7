import type { ChildProcess } from "node:child_process";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClientWire } from "@codexkit/protocol";
import { Peer } from "@codexkit/rpc";
import { codexConfig, withoutModelVariables } from "@codexkit/scripted-model";
import { fakeAppServerCommand, initializePeer, tempFolder } from "@codexkit/testing";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { findCodex } from "./find-codex.ts";
import { launchAppServer, type LaunchAppServerOptions, type LaunchedAppServer } from "./launch-app-server.ts";
import { OWNER_VARIABLE } from "./owner-mark.ts";
import { ownersFolder } from "./owner-manifest.ts";
import { processTable } from "./process-table.ts";
import { checkVersion } from "./version.ts";

let home: string;
let base: LaunchAppServerOptions;

beforeEach(async () => {
  const folder = await tempFolder("launch");
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const temp = join(folder.path, "temp");
  await mkdir(temp);
  home = join(folder.path, "deep", "codex-home");
  base = {
    codexHome: home,
    env: { ...withoutModelVariables(process.env), TMPDIR: temp, HOME: folder.path },
    inheritEnv: false,
    ownersFolder: join(folder.path, "owners"),
  };
});

async function launch(options: LaunchAppServerOptions = {}): Promise<LaunchedAppServer> {
  const server = await launchAppServer({ ...base, ...options });
  onTestFinished(() => server.dispose());
  return server;
}

async function handshake(server: LaunchedAppServer): Promise<{ peer: Peer<ClientWire>; userAgent: string }> {
  const peer = new Peer<ClientWire>(server.transport);
  onTestFinished(() => peer.close());
  const { userAgent } = await initializePeer(peer);
  return { peer, userAgent };
}

async function configOf(options: LaunchAppServerOptions): Promise<Record<string, unknown>> {
  const { peer } = await handshake(await launch(options));
  const { config } = await peer.request("config/read", { includeLayers: false });
  return config;
}

/** The initial environment of a process. */
async function environmentOf(server: LaunchedAppServer): Promise<string[]> {
  const { readFile } = await import("node:fs/promises");
  return (await readFile(`/proc/${server.process.pid}/environ`, "utf8")).split("\0").filter(Boolean);
}

describe("the real codex", () => {
  it("is launched, initialized, and leaves nothing behind when disposed", async () => {
    const server = await launch();
    expect(server).toMatchObject({
      codex: findCodex(),
      url: undefined,
      warnings: [],
    });
    const { userAgent } = await handshake(server);
    expect(checkVersion(userAgent).version).toMatch(/^\d+\.\d+\.\d+/);
    expect(await readdir(base.ownersFolder ?? "")).toHaveLength(1);
    await server.dispose();
    await expect(server.process.ended).resolves.toEqual({ code: 0, signal: null });
    await expect(readdir(base.ownersFolder ?? "")).rejects.toThrow("ENOENT");
  });

  it("accepts settings as objects, with any characters and nested tables, merged with the file", async () => {
    await mkdir(home, { recursive: true });
    await writeFile(
      join(home, "config.toml"),
      '[mcp_servers.old]\ncommand = "true"\n[shell_environment_policy]\nset = { A = "1" }\n',
    );
    const nasty = "\"'\\\n\t\u007F\u0000 ü😀 = { # %PATH% $(x) `y`";
    const config = await configOf({
      config: {
        model: nasty,
        "model_providers.x": { name: "x", base_url: "http://127.0.0.1:1" },
        mcp_servers: { new: { command: "true", args: [nasty], env: { "A.B": nasty }, enabled: false } },
        projects: { "/a.b/c d": { trust_level: "trusted" } },
        model_context_window: 12_345,
      },
      configOverrides: ['model_verbosity="low"'],
      enable: ["memories"],
      disable: ["apps"],
      strictConfig: true,
    });
    expect(config).toMatchObject({
      model: nasty,
      model_providers: { x: { name: "x" } },
      mcp_servers: {
        old: { command: "true" },
        new: { args: [nasty], env: { "A.B": nasty }, enabled: false },
      },
      projects: { "/a.b/c d": { trust_level: "trusted" } },
      model_context_window: 12_345,
      model_verbosity: "low",
      features: { memories: true, apps: false },
      shell_environment_policy: { set: { A: "1", [OWNER_VARIABLE]: expect.any(String) } },
    });
  });

  it("listens on the given address and ends with its owner", async () => {
    const ws = await launch({ listen: "ws://127.0.0.1:0" });
    expect(ws.url).toMatch(/^ws:\/\/127\.0\.0\.1:[1-9]\d*$/);
    await handshake(ws);
    const socket = `unix://${join(base.env?.["HOME"] ?? "", "s.sock")}`;
    const unix = await launch({ listen: socket });
    expect(unix.url).toBe(socket);
    await handshake(unix);
    await Promise.all([ws.dispose(), unix.dispose()]);
    for (const { process: owned } of [ws, unix]) expect(processTable().one(owned.pid ?? 0)).toBeUndefined();
  });

  it("reports an invalid configuration through the transport", async () => {
    const server = await launch({ configOverrides: ['approval_policy="nonsense"'] });
    await expect(handshake(server)).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/exited with code 1; stderr:[^]*approval_policy/) },
    });
    await expect(
      launch({ listen: "ws://127.0.0.1:0", configOverrides: ['approval_policy="nonsense"'] }),
    ).rejects.toMatchObject({
      code: "codex_start_failed",
      message: expect.stringContaining("approval_policy"),
    });
  });

  it("distinguishes a killed codex from one that exited", async () => {
    const server = await launch();
    const { peer } = await handshake(server);
    const pending = peer.request("thread/list", {});
    server.process.kill("SIGKILL");
    await expect(pending).rejects.toMatchObject({
      cause: { message: expect.stringContaining("killed by SIGKILL") },
    });
  });

  it("has its log reported line by line", async () => {
    const lines: string[] = [];
    const server = await launch({
      configOverrides: ['approval_policy="nonsense"'],
      onStderr: (line) => lines.push(line),
    });
    await server.process.ended;
    expect(lines.join("\n")).toContain("approval_policy");
  });

  it("gets a mark that commands keep under a strict environment policy", async () => {
    const config = await configOf({ config: { shell_environment_policy: { inherit: "none" } } });
    expect(config).toMatchObject({
      shell_environment_policy: { inherit: "none", set: { [OWNER_VARIABLE]: expect.any(String) } },
    });
  });
});

describe("the environment", () => {
  it("is that of this process with changes, or only the given one", async () => {
    vi.stubEnv("CODEXKIT_SEEN", "from the process");
    vi.stubEnv("CODEXKIT_REMOVED", "x");
    onTestFinished(() => void vi.unstubAllEnvs());
    const cat = { codexPath: "/bin/sh", wrapperArgs: ["-c", "cat"] };
    const inherited = await launch({
      ...cat,
      inheritEnv: true,
      env: { CODEXKIT_REMOVED: undefined, MINE: "1" },
    });
    const seen = await environmentOf(inherited);
    expect(seen).toEqual(
      expect.arrayContaining(["CODEXKIT_SEEN=from the process", "MINE=1", `CODEX_HOME=${home}`]),
    );
    expect(seen.join("\n")).not.toContain("CODEXKIT_REMOVED");
    const bare = await environmentOf(await launch({ ...cat, env: { MINE: "2", CODEX_HOME: "/elsewhere" } }));
    expect(bare.map((entry) => entry.replace(/=.*/, "")).toSorted()).toEqual(
      [OWNER_VARIABLE, "CODEX_HOME", "MINE"].toSorted(),
    );
    expect(bare).toContain(`CODEX_HOME=${home}`);
  });

  it("causes a warning if the home is inside the temp folder", async () => {
    const server = await launch({
      codexPath: "/bin/sh",
      wrapperArgs: ["-c", "cat"],
      env: { TMPDIR: join(home, "..") },
    });
    expect(server.warnings).toEqual([expect.stringContaining("inside the temp folder")]);
  });
});

describe("a wrapper", () => {
  it("gets its own arguments before those of codex", async () => {
    const { command, args } = fakeAppServerCommand();
    const server = await launch({ codexPath: command, wrapperArgs: args });
    await handshake(server);
  });
});

describe("an error before the start", () => {
  it.each<[string, LaunchAppServerOptions, string, string]>([
    [
      "a missing folder",
      { cwd: "/nowhere/at/all" },
      "invalid_argument",
      "cwd does not exist: /nowhere/at/all",
    ],
    ["a file for a folder", { cwd: "/etc/passwd" }, "invalid_argument", "cwd is not a folder"],
    [
      "a home inside a file",
      { codexHome: "/etc/passwd/x" },
      "invalid_argument",
      "codexHome can't be created",
    ],
    [
      "a value that TOML can't represent",
      { config: { a: null as unknown as string } },
      "invalid_argument",
      "a is null",
    ],
    ["an override without a value", { configOverrides: ["model"] }, "invalid_argument", "key=value"],
    ["nowhere to listen", { listen: "off" }, "invalid_argument", "expected stdio://"],
    ["an argument with a null byte", { args: ["a\0b"] }, "invalid_argument", "null bytes"],
    ["no codex", { codexPath: "/nowhere/codex" }, "codex_not_found", "/nowhere/codex"],
    [
      "settings that are too long for a command line",
      { config: { a: "x".repeat(3_000_000) } },
      "codex_start_failed",
      "too long",
    ],
  ])("explains %s", async (_name, options, code, text) => {
    const failed = launchAppServer({ ...base, ...options });
    await expect(failed).rejects.toMatchObject({ code, message: expect.stringContaining(text) });
    await expect(readdir(base.ownersFolder ?? "")).rejects.toThrow("ENOENT");
  });

  it("names a file that the system can't run", async () => {
    const script = join(base.env?.["HOME"] ?? "", "codex");
    await writeFile(script, "#!/nowhere/interpreter\n");
    await chmod(script, 0o755);
    await expect(launchAppServer({ ...base, codexPath: script })).rejects.toMatchObject({
      code: "codex_start_failed",
      message: expect.stringContaining("interpreter is missing"),
    });
  });

  it("starts nothing if the signal is aborted", async () => {
    await expect(launchAppServer({ ...base, signal: AbortSignal.abort("enough") })).rejects.toMatchObject({
      code: "aborted",
      cause: "enough",
    });
  });

  it("ends the process if onSpawn throws", async () => {
    let spawned: ChildProcess | undefined;
    const onSpawn = (child: ChildProcess): void => {
      spawned = child;
      throw new Error("no room");
    };
    await expect(launchAppServer({ ...base, onSpawn })).rejects.toThrow("no room");
    expect(spawned?.exitCode ?? spawned?.signalCode).not.toBeNull();
    await expect(readdir(base.ownersFolder ?? "")).rejects.toThrow("ENOENT");
  });

  it("only warns about an untrusted manifest folder", async () => {
    const server = await launch({
      codexPath: "/bin/sh",
      wrapperArgs: ["-c", "cat"],
      ownersFolder: "/etc/passwd",
    });
    expect(server.warnings).toEqual([expect.stringContaining("passwd: it is not a folder")]);
  });
});

describe("the settings of a scripted model", () => {
  it("are accepted as hand-written overrides", async () => {
    const config = await configOf({
      configOverrides: codexConfig("http://127.0.0.1:1", { model: "m" }).overrides,
    });
    expect(config).toMatchObject({ model: "m", model_provider: "scripted" });
    expect(ownersFolder()).not.toBe(base.ownersFolder);
  });
});
