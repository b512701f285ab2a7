// The real `codex app-server`, on a scripted model, with our server as its hands.
import {
  callTool,
  codexConfig,
  patch,
  run,
  say,
  type Script,
  ScriptedModel,
  type ScriptRequest,
  writeStdin,
} from "@codexkit/scripted-model";
import { startAppServer, startTurn, tempFolder } from "@codexkit/testing";
import { writeFileSync } from "node:fs";
import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { cuttableProxy } from "./cuttable-proxy.ts";
import { startServer } from "./servers.ts";
import { ExecServer } from "../src/server/exec-server.ts";

/** A turn with the real codex takes seconds on a busy machine. */
const TURN_MS = 60_000;

// Commands run in login shells: the machine's own profile may take a minute, or fail.
beforeEach(async () => {
  const home = await tempFolder("home");
  vi.stubEnv("HOME", home.path);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await home[Symbol.asyncDispose]();
  });
});

type Peer = Awaited<ReturnType<Awaited<ReturnType<typeof startAppServer>>["connect"]>>;

interface TurnOptions {
  readonly sandbox?: "danger-full-access" | "workspace-write" | "read-only";
  readonly cwd: string;
  readonly environmentId?: string;
}

/** Runs one turn to its end. */
async function turn(
  peer: Peer,
  { sandbox = "danger-full-access", cwd, environmentId }: TurnOptions,
): Promise<string> {
  const environments = environmentId === undefined ? {} : { environments: [{ environmentId, cwd }] };
  const { ended } = await startTurn(peer, { cwd, sandbox, approvalPolicy: "never", ...environments });
  return ended;
}

async function withCodex(
  script: Script,
  options: { url?: string; env?: Record<string, string>; config?: string[] } = {},
) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await ExecServer.start());
  const app = stack.use(
    await startAppServer({
      model: script,
      config: options.config ?? [],
      env: { CODEX_EXEC_SERVER_URL: options.url ?? server.url ?? "", ...options.env },
    }),
  );
  const peer = await app.connect();
  const owner = stack.move();
  return { server, app, peer, cwd: app.workspace, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

test("runs a command where CODEX_EXEC_SERVER_URL says", { timeout: TURN_MS }, async () => {
  await using it = await withCodex([[run("echo hands; pwd; exit 3", { callId: "c" })], [say("done")]]);
  expect(await turn(it.peer, it)).toBe("completed");
  const result = it.app.model.requests.at(-1)?.commandResult("c");
  expect(result).toEqual({ output: `hands\n${it.cwd}\n`, exitCode: 3 });
});

test("types into a command on a PTY", { timeout: TURN_MS }, async () => {
  const script = (request: ScriptRequest) => {
    const started = request.commandResult("c");
    if (!started) return [run("read line; echo got $line; tty", { callId: "c", tty: true, yieldMs: 300 })];
    const typed = request.commandResult("w");
    if (!typed) return [writeStdin(started.sessionId ?? -1, "hello\n", { callId: "w", yieldMs: 5_000 })];
    return "done";
  };
  await using it = await withCodex(script);
  expect(await turn(it.peer, it)).toBe("completed");
  const result = it.app.model.requests.at(-1)?.commandResult("w");
  expect(result?.output).toContain("got hello");
  expect(result?.output).toContain("/dev/pts/");
  expect(result?.exitCode).toBe(0);
});

test("patches: a new file in a new folder, an edit, a delete", { timeout: TURN_MS }, async () => {
  const text = [
    "*** Begin Patch",
    "*** Add File: new/deep.txt",
    "+hello",
    "*** Update File: old.txt",
    "@@",
    "-one",
    "+two",
    "*** Delete File: gone.txt",
    "*** End Patch",
  ].join("\n");
  await using it = await withCodex([[patch(text)], [say("done")]]);
  await writeFile(join(it.cwd, "old.txt"), "one\n");
  await writeFile(join(it.cwd, "gone.txt"), "x\n");
  expect(await turn(it.peer, { ...it, sandbox: "workspace-write" })).toBe("completed");
  expect(await readFile(join(it.cwd, "new/deep.txt"), "utf8")).toBe("hello\n");
  expect(await readFile(join(it.cwd, "old.txt"), "utf8")).toBe("two\n");
  expect(await exists(join(it.cwd, "gone.txt"))).toBe(false);
});

test("shows an image", { timeout: TURN_MS }, async () => {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const script = (request: ScriptRequest) =>
    request.index === 0 ? [callTool("view_image", { path: "dot.png" }, { callId: "v" })] : "done";
  await using it = await withCodex(script);
  await writeFile(join(it.cwd, "dot.png"), Buffer.from(png, "base64"));
  expect(await turn(it.peer, it)).toBe("completed");
  expect(JSON.stringify(it.app.model.requests.at(-1)?.body)).toContain("data:image/png;base64,");
});

test(
  "denies a sandboxed command what it may not write, and lets it write its workspace",
  { timeout: TURN_MS },
  async () => {
    const command = "echo in > inside.txt; echo out > /var/codexkit-outside; mkdir -p .git/hooks";
    await using it = await withCodex([[run(command, { callId: "c" })], [say("done")]]);
    expect(await turn(it.peer, { ...it, sandbox: "workspace-write" })).toBe("completed");
    expect(it.app.model.requests.at(-1)?.commandResult("c")?.output).toMatch(/Read-only file system/i);
    expect(await exists(join(it.cwd, "inside.txt"))).toBe(true);
    expect(await exists("/var/codexkit-outside")).toBe(false);
    expect(await exists(join(it.cwd, ".git"))).toBe(false);
  },
);

test("loses no output when the socket is cut in the middle of a command", { timeout: TURN_MS }, async () => {
  await using server = await ExecServer.start();
  await using proxy = await cuttableProxy(server.url ?? "");
  const command = "i=0; until [ -e cut ]; do i=$((i+1)); echo line $i; sleep 0.1; done; echo end";
  await using it = await withCodex([[run(command, { callId: "c", yieldMs: 20_000 })], [say("done")]], {
    url: proxy.url,
  });
  const completed = turn(it.peer, it);
  const started = Promise.withResolvers<void>();
  it.peer.on("item/commandExecution/outputDelta", () => started.resolve());
  await Promise.race([started.promise, completed]);
  proxy.cut();
  await writeFile(join(it.cwd, "cut"), "");
  expect(await completed).toBe("completed");
  const lines = it.app.model.requests.at(-1)?.commandResult("c")?.output.split("\n") ?? [];
  expect(lines).toEqual([...lines.slice(0, -2).map((_, index) => `line ${index + 1}`), "end", ""]);
  expect(proxy.connections).toBeGreaterThan(1);
});

test.each(["ours", "codex"] as const)(
  "the deltas of a command are the end of its output (server: %s)",
  { timeout: TURN_MS },
  async (kind) => {
    await using server = await startServer(kind);
    const command = "until [ -e shown ]; do echo first; sleep 0.1; done; echo second";
    await using it = await withCodex([[run(command, { callId: "c", yieldMs: 20_000 })], [say("done")]], {
      url: server.url,
    });
    let deltas = "";
    it.peer.on("item/commandExecution/outputDelta", ({ delta }) => {
      deltas += delta;
      // Codex listens for deltas only some time after the start, whichever server it uses.
      writeFileSync(join(it.cwd, "shown"), "");
    });
    expect(await turn(it.peer, it)).toBe("completed");
    const { output = "" } = it.app.model.requests.at(-1)?.commandResult("c") ?? {};
    expect(output).toMatch(/^(first\n)+second\n$/);
    expect(deltas).toContain("second\n");
    expect(output.endsWith(deltas)).toBe(true);
  },
);

test("is found by environments.toml", { timeout: TURN_MS }, async () => {
  await using server = await ExecServer.start();
  await using model = await ScriptedModel.start([[run("echo by toml", { callId: "c" })], [say("done")]]);
  await using home = await tempFolder("codex-home");
  const toml = `default = "mine"\ninclude_local = false\n[[environments]]\nid = "mine"\nurl = "${server.url}"\n`;
  await writeFile(join(home.path, "environments.toml"), toml);
  await writeFile(join(home.path, "config.toml"), codexConfig(model, { model: "mock-model" }).toml);
  await using app = await startAppServer({ model, env: { CODEX_HOME: home.path } });
  const peer = await app.connect();
  expect(await turn(peer, { cwd: app.workspace })).toBe("completed");
  expect(model.requests.at(-1)?.commandResult("c")).toEqual({ output: "by toml\n", exitCode: 0 });
});

test("is added by environment/add", { timeout: TURN_MS }, async () => {
  await using server = await ExecServer.start();
  await using app = await startAppServer({ model: [[run("echo by add", { callId: "c" })], [say("done")]] });
  const peer = await app.connect();
  await peer.request("environment/add", { environmentId: "mine", execServerUrl: server.url ?? "" });
  expect(await turn(peer, { cwd: app.workspace, environmentId: "mine" })).toBe("completed");
  expect(app.model.requests.at(-1)?.commandResult("c")).toEqual({ output: "by add\n", exitCode: 0 });
});

test("runs a profile once for all commands of a thread", { timeout: TURN_MS }, async () => {
  await using home = await tempFolder("profile");
  const profile = 'echo noise; echo ran >> "$HOME/runs"; export OF_PROFILE=here; greet() { echo "hi $1"; }';
  await writeFile(join(home.path, ".bash_profile"), profile);
  // Commands get the environment of the server, which runs in this process.
  vi.stubEnv("HOME", home.path);
  vi.stubEnv("SHELL", "/bin/bash");
  onTestFinished(() => void vi.unstubAllEnvs());
  const command = 'echo "$OF_PROFILE"; greet you';
  const script = [[run(command, { callId: "a" })], [run(command, { callId: "b" })], [say("done")]];
  // Off by default in this version of Codex.
  await using it = await withCodex(script, { config: ["features.shell_snapshot_v2=true"] });
  expect(await turn(it.peer, it)).toBe("completed");
  const [first, second] = ["a", "b"].map((id) => it.app.model.requests.at(-1)?.commandResult(id));
  expect(first).toEqual({ output: "here\nhi you\n", exitCode: 0 });
  expect(second).toEqual(first);
  expect(await readFile(join(home.path, "runs"), "utf8")).toBe("ran\n");
});
