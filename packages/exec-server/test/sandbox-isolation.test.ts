// Servers, sandboxes and the programs that start them can't reach each other's files and descriptors.
import { OwnedProcess, tempFolder } from "@codexkit/testing";
import { once } from "node:events";
import { access, mkdir, readdir, readFile, readlink, rename, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test, vi } from "vitest";
import { OUR_BIN, startProgram } from "./servers.ts";
import { RawClient } from "./raw-client.ts";
import { rulesIn, sandboxFixture, special } from "./sandbox-fixture.ts";
import { ExecClient, type RemoteProcess } from "../src/client/index.ts";
import { ExecServer } from "../src/server/exec-server.ts";

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** How long something may take that happens by itself. */
const WAIT = { timeout: 15_000, interval: 20 };

/** A command in the workspace that waits for a line before it runs its script. */
async function waiting(
  client: ExecClient,
  it: ReturnType<typeof rulesIn>,
  script: string,
): Promise<RemoteProcess> {
  const started = await client.start({
    argv: ["/bin/sh", "-c", `echo up; read line; ${script}`],
    cwd: it.at("ws"),
    sandbox: it.workspaceWrite(),
    pipeStdin: true,
  });
  await client.request("process/read", { processId: started.id, waitMs: WAIT.timeout });
  return started;
}

async function finish(process: RemoteProcess): Promise<string> {
  await process.stdin.write("go\n");
  const { stdout, stderr } = await process.collect();
  return String(stdout) + String(stderr);
}

test("descriptors that the server inherited reach no child", { timeout: 60_000 }, async () => {
  await using folder = await tempFolder("inherited");
  const it = rulesIn(folder.path);
  await it.put("leaked");
  await mkdir(it.at("ws"));
  const program = new OwnedProcess({
    command: "/bin/bash",
    args: ["-c", 'exec 7<"$0" 23<"$0"; exec "$@"', it.at("leaked"), process.execPath, ...OUR_BIN],
    env: { ...process.env },
  });
  await using _stopped = { [Symbol.asyncDispose]: () => program.stop("SIGTERM") };
  const [line] = (await once(program.child.stdout, "data")) as [Buffer];
  await using client = await ExecClient.connect(String(line).trim());
  for (const sandbox of [undefined, it.workspaceWrite()]) {
    for (const tty of [false, true]) {
      const argv: [string, ...string[]] = ["/bin/sh", "-c", "ls -l /proc/self/fd; exit 0"];
      const started = await client.start({ argv, cwd: "/", tty, ...(sandbox ? { sandbox } : {}) });
      const { stdout } = await started.collect();
      expect(String(stdout)).not.toContain("leaked");
      // 0 to 2, and the folder that is being listed.
      expect(String(stdout).match(/->/g)?.length).toBe(4);
    }
  }
  await client.files.write(it.at("ws/file"), "x", { sandbox: it.workspaceWrite() });
  const children = await readFile(`/proc/${program.child.pid}/task/${program.child.pid}/children`, "utf8");
  for (const pid of children.trim().split(" ")) {
    const open = await readdir(`/proc/${pid}/fd`);
    const targets = await Promise.all(
      open.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "closed")),
    );
    expect(targets.filter((target) => target.includes("leaked"))).toEqual([]);
  }
});

test("two servers on one workspace keep each other's protection", { timeout: 60_000 }, async () => {
  await using it = await sandboxFixture();
  await using program = await startProgram("ours", []);
  await using other = await ExecClient.connect(program.url);
  const attempt = "mkdir .git && echo made; echo x > .aws/x && echo written; echo done";
  for (const [first, second] of [
    [it.client, other],
    [other, it.client],
  ] as const) {
    const long = await waiting(first, it, attempt);
    const short = await waiting(second, it, attempt);
    expect(await finish(short)).not.toMatch(/made|written/);
    const output = await finish(long);
    expect(output).toContain("done");
    expect(output).not.toMatch(/made|written/);
    await vi.waitUntil(async () => (await readdir(it.at("ws"))).length === 0, WAIT);
  }
});

test("no placeholder stays when the server is killed", { timeout: 60_000 }, async () => {
  await using folder = await tempFolder("killed");
  const it = rulesIn(folder.path);
  await mkdir(it.at("ws"));
  await using server = await startProgram("ours", []);
  const client = await ExecClient.connect(server.url);
  await waiting(client, it, "true");
  expect(await readdir(it.at("ws"))).toContain(".git");
  server.process?.child.kill("SIGKILL");
  await client[Symbol.asyncDispose]();
  await vi.waitUntil(async () => (await readdir(it.at("ws"))).length === 0, WAIT);
});

test("no placeholder stays in a workspace that is renamed while a command runs", async () => {
  await using it = await sandboxFixture();
  const command = await waiting(it.client, it, "true");
  await rename(it.at("ws"), it.at("renamed"));
  expect(await readdir(it.at("renamed"))).toContain(".git");
  await finish(command);
  await vi.waitUntil(async () => (await readdir(it.at("renamed"))).length === 0, WAIT);
});

test(
  "the next server removes what one left that was killed with its launcher",
  { timeout: 60_000 },
  async () => {
    await using folder = await tempFolder("killed");
    const it = rulesIn(folder.path);
    await mkdir(it.at("ws"));
    await mkdir(it.at("tmp"));
    const server = await startProgram("ours", [], { TMPDIR: it.at("tmp") });
    const client = await ExecClient.connect(server.url);
    await waiting(client, it, "true");
    const pid = server.process?.child.pid ?? 0;
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ");
    // Stopped first, so that none of them cleans up after another.
    for (const signal of ["SIGSTOP", "SIGKILL"] as const)
      for (const each of [pid, ...children]) process.kill(Number(each), signal);
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    expect(await readdir(it.at("ws"))).toContain(".git");
    await using _next = await startProgram("ours", [], { TMPDIR: it.at("tmp") });
    await expect.poll(() => readdir(it.at("ws"))).toEqual([]);
  },
);

test("no placeholder stays when a session expires", { timeout: 60_000 }, async () => {
  await using folder = await tempFolder("expired");
  const it = rulesIn(folder.path);
  await mkdir(it.at("ws"));
  await using server = await ExecServer.start({ limits: { sessionTtlMs: 50 } });
  const client = await ExecClient.connect(server.url ?? "");
  await waiting(client, it, "true");
  await client[Symbol.asyncDispose]();
  await vi.waitUntil(async () => (await readdir(it.at("ws"))).length === 0, WAIT);
});

test("files of all servers are invisible, however their folder is spelled", { timeout: 60_000 }, async () => {
  await using it = await sandboxFixture();
  await mkdir(it.at("ws/tmp"));
  // A server with another folder for temporary files, to which this sandbox can write.
  await using another = await startProgram("ours", [], { TMPDIR: it.at("ws/tmp") });
  await using elsewhere = await ExecClient.connect(another.url);
  const pipes: string[] = [];
  for (const client of [it.client, elsewhere]) {
    const other = await client.start({
      argv: ["/bin/sh", "-c", "readlink /proc/$$/fd/1; sleep 300"],
      cwd: "/",
    });
    const { value } = (await other[Symbol.asyncIterator]().next()) as { value: { bytes: Buffer } };
    pipes.push(String(value.bytes).trim().replace(" (deleted)", ""));
  }
  expect(await readdir(it.at("ws/tmp"))).toEqual([]);
  const temporary = (pipes[0] ?? "").replace(/\/codexkit-exec-.*/, "");
  await symlink(temporary, it.at("alias"));
  const base = it.workspaceWrite();
  const spellings = [temporary, `${temporary}/x/..`, `${temporary}//.`, it.at("alias")];
  for (const spelling of spellings) {
    for (const root of [special("root", "read"), special("root", "write"), special("minimal", "read")]) {
      const entries = [
        root,
        { path: { type: "path", path: `file://${spelling}` }, access: "write" } as const,
      ];
      const permissions = {
        type: "managed",
        network: "restricted",
        file_system: { type: "restricted", entries },
      } as const;
      const tests = pipes.map(
        (pipe) => `test -e ${dirname(pipe)} && echo FOUND; (echo x > ${pipe}) 2>/dev/null && echo WRITTEN`,
      );
      const { output } = await it.run(`cd /; ${tests.join("; ")}; echo ran`, { ...base, permissions });
      expect(output).not.toMatch(/FOUND|WRITTEN/);
      expect(output).toMatch(/ran|could be replaced/);
    }
  }
  const own = {
    path: { type: "path", path: `file://${dirname(pipes[0] ?? "")}` },
    access: "write",
  } as const;
  expect((await it.run("echo ran", it.workspaceWrite([own]))).output).toContain("own folder");
});

test("a folder that is renamed between two commands gives nothing away", async () => {
  await using it = await sandboxFixture();
  await it.put("ws/config/deep/secret");
  await it.put("ws/config/deep/fixed", "fixed");
  const sandbox = it.workspaceWrite([
    it.path("ws/config/deep/secret", "deny"),
    it.path("ws/config/deep/fixed", "read"),
    it.path("ws/config/gone/later", "deny"),
  ]);
  await it.run("mv config moved; mv config/deep config/moved; mv config/deep ..; mkdir config/gone", sandbox);
  const { output } = await it.run(
    "cat $(find . -name secret); for f in $(find . -name fixed); do echo changed > $f; done; rm -rf config; echo ran",
    sandbox,
  );
  expect(output).toContain("ran");
  expect(output).not.toContain("top-secret");
  expect(await readFile(it.at("ws/config/deep/fixed"), "utf8")).toBe("fixed");
  expect(await exists(it.at("ws/config/gone"))).toBe(false);
});

test("a root behind a link in a writable folder is refused", async () => {
  await using it = await sandboxFixture();
  await it.put("secrets/key");
  await mkdir(it.at("ws/shared"));
  await symlink(it.at("secrets"), it.at("ws/link"));
  for (const access_ of ["read", "write", "deny"] as const) {
    const sandbox = it.workspaceWrite([it.path("ws/link", access_)]);
    expect((await it.run("echo ran", sandbox)).output).toContain("could be replaced");
    await expect(it.client.files.write(it.at("ws/x"), "x", { sandbox })).rejects.toMatchObject({
      rpcCode: -32602,
    });
  }
  // A link that the sandbox can't replace is followed.
  await symlink(it.at("ws/shared"), it.at("outside"));
  const { output } = await it.run(
    `echo x > ${it.at("outside/new")} && echo written`,
    it.workspaceWrite([it.path("outside", "write")]),
  );
  expect(output).toContain("written");
});

test("a command that is terminated while its sandbox is set up ends, and leaves nothing behind", async () => {
  await using it = await sandboxFixture();
  using raw = await RawClient.ready(it.server.url);
  raw.send({
    id: 100,
    method: "process/start",
    params: {
      processId: "p",
      argv: ["/bin/sleep", "300"],
      cwd: it.uri("ws"),
      env: {},
      tty: false,
      sandbox: it.workspaceWrite(),
    },
  });
  expect((await raw.call("process/terminate", { processId: "p" })).result).toEqual({ running: true });
  await raw.until(({ method }) => method === "process/closed");
  await vi.waitUntil(async () => (await readdir(it.at("ws"))).length === 0, WAIT);
});
