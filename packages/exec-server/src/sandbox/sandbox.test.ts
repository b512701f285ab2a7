// What a sandbox refuses, for processes and for file operations; and that nothing runs without one by accident.
import { tempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { access, link, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ExecClient } from "../client/exec-client.ts";
import { ExecServer } from "../server/exec-server.ts";
import type { SandboxContext } from "../wire/sandbox-context.ts";

type Entry = Extract<
  Extract<SandboxContext["permissions"], { type: "managed" }>["file_system"],
  { type: "restricted" }
>["entries"][number];

let stack: AsyncDisposableStack;
let client: ExecClient;
let folder: string;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  folder = stack.use(await tempFolder("sandbox")).path;
  const server = stack.use(await ExecServer.start());
  client = stack.use(await ExecClient.connect(server.url ?? ""));
  await mkdir(join(folder, "ws/.git"), { recursive: true });
  await mkdir(join(folder, "ws/sub/.codex"), { recursive: true });
  await mkdir(join(folder, "out"));
  await writeFile(join(folder, "out/secret"), "secret");
  await writeFile(join(folder, "ws/file"), "hello");
  await symlink(join(folder, "out"), join(folder, "ws/escape"));
  await symlink(join(folder, "out/secret"), join(folder, "ws/escape-file"));
  await symlink(join(folder, "ws"), join(folder, "alias"));
});

afterAll(() => stack.disposeAsync());

const at = (name: string) => join(folder, name);
const uri = (name: string) => `file://${at(name)}`;
const special = (kind: "root" | "minimal", access_: Entry["access"]): Entry => ({
  path: { type: "special", value: { kind } },
  access: access_,
});
const grant = (name: string, access_: Entry["access"]): Entry => ({
  path: { type: "path", path: uri(name) },
  access: access_,
});

function context(entries: Entry[], more: Partial<SandboxContext> = {}): SandboxContext {
  return {
    permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries } },
    policyContext: { cwd: uri("ws"), workspaceRoots: [uri("ws")] },
    windowsSandboxLevel: "disabled",
    ...more,
  };
}

const workspaceWrite = () =>
  context([
    special("root", "read"),
    { path: { type: "special", value: { kind: "project_roots" } }, access: "write" },
  ]);
/** Only the workspace and what programs need can be seen. */
const hidden = () => context([special("minimal", "read"), grant("ws", "write")]);

async function sh(script: string, sandbox: SandboxContext, tty = false) {
  const process = await client.start({ argv: ["/bin/sh", "-c", script], cwd: at("ws"), sandbox, tty });
  const { stdout, stderr, ...end } = await process.collect();
  return { out: String(stdout) + String(stderr), ...end };
}

const exists = (name: string) =>
  access(at(name)).then(
    () => true,
    () => false,
  );

describe("a sandboxed process", () => {
  test.each([false, true])("writes its workspace and nothing else (tty %s)", async (tty) => {
    const { out, sandboxDenied } = await sh(
      "echo x > made; rm made; echo x > ../out/new || exit 1",
      workspaceWrite(),
      tty,
    );
    expect(out).toMatch(/Read-only file system/);
    expect(sandboxDenied).toBe(true);
    expect(await exists("out/new")).toBe(false);
  });

  test("can't write protected folders, there or not, and leaves none behind", async () => {
    const { out, exitCode } = await sh(
      "touch .git/x; mkdir .aws/y; touch escape/z; exit 5",
      workspaceWrite(),
    );
    expect(out.match(/Read-only file system/g)?.length).toBe(3);
    expect(exitCode).toBe(5);
    expect([await exists("ws/.aws"), await exists("ws/.git/x")]).toEqual([false, false]);
  });

  test("sees only what it may read", async () => {
    const { out } = await sh(
      "cat file; cat ../out/secret; cat escape-file; ls /root /home 2>&1 | head -3",
      hidden(),
    );
    expect(out).toContain("hello");
    expect(out).not.toContain("secret\n");
    expect(out).toMatch(/No such file/);
  });

  test("sees nothing of what is denied inside what is granted", async () => {
    const entries = [
      special("root", "read"),
      grant("ws", "write"),
      grant("ws/sub", "deny"),
      grant("ws/file", "deny"),
    ];
    const { out } = await sh("ls sub; cat file", context(entries));
    expect(out).toMatch(/Permission denied/);
    expect(out).not.toContain("hello");
  });

  test("has no network: not by address, not by a socket in the file system", async () => {
    await using listening = new AsyncDisposableStack();
    for (const where of [{ port: 0, host: "127.0.0.1" }, { path: at("ws/daemon.sock") }]) {
      const server = createServer((socket) => socket.destroy());
      server.listen(where);
      await once(server, "listening");
      listening.defer(() => void server.close());
    }
    const program = (target: string) =>
      `require("net").connect(${target}).on("connect",()=>{console.log("CONNECTED");process.exit()}).on("error",(e)=>{console.log(e.code);process.exit(1)})`;
    for (const target of ["1,'127.0.0.1'", `'${at("ws/daemon.sock")}'`]) {
      const started = await client.start({
        argv: [process.execPath, "-e", program(target)],
        cwd: at("ws"),
        sandbox: workspaceWrite(),
      });
      const { stdout } = await started.collect();
      expect(String(stdout).trim()).toMatch(/^(EPERM|EACCES|ENETUNREACH)$/);
    }
  });

  test("can't reach the pipes of other processes", async () => {
    const other = await client.start({
      argv: ["/bin/sh", "-c", "readlink /proc/$$/fd/1; sleep 300"],
      cwd: "/",
    });
    const { value } = (await other[Symbol.asyncIterator]().next()) as { value: { bytes: Buffer } };
    const target = String(value.bytes).trim();
    expect(target).toMatch(/codexkit-exec-.* \(deleted\)$/);
    const pipe = target.replace(" (deleted)", "");
    const open = { root: special("root", "write"), temporary: grant("..", "write") };
    for (const entries of [
      [special("root", "read")],
      [open.root],
      [special("minimal", "read"), open.temporary],
    ]) {
      const { out } = await sh(
        `test -e ${pipe} && echo FOUND; echo x > ${pipe}; echo done > /dev/stdout`,
        context(entries),
      );
      expect(out).not.toContain("FOUND");
      expect(out).toContain("done");
    }
    await other.kill();
  });

  test("runs under another name when told", async () => {
    const started = await client.start({
      argv: ["/bin/sh", "-c", "echo $0"],
      arg0: "zz",
      cwd: at("ws"),
      sandbox: workspaceWrite(),
    });
    expect((await started.collect()).exitCode).toBe(0);
  });

  test("is killed with all that it started", async () => {
    execFileSync("mkfifo", [at("ws/alive")]);
    // Ends when the last process that has it open has ended.
    const allEnded = once(createReadStream(at("ws/alive")).resume(), "end");
    const started = await client.start({
      argv: ["/bin/sh", "-c", "exec 5> alive; sleep 300 & setsid sleep 300 & echo up; wait"],
      cwd: at("ws"),
      sandbox: workspaceWrite(),
    });
    const output = started[Symbol.asyncIterator]();
    // The shell reports what it can't start and goes on: then nothing would be running.
    expect(await output.next()).toMatchObject({ value: { stream: "stdout", bytes: Buffer.from("up\n") } });
    expect(await started.kill()).toBe(true);
    expect((await started.wait()).exitCode).toBe(137);
    await allEnded;
  });

  test("has no more than an empty workspace grants", async () => {
    const sandbox = context(
      [
        special("root", "read"),
        { path: { type: "special", value: { kind: "project_roots" } }, access: "write" },
      ],
      { policyContext: { cwd: uri("ws"), workspaceRoots: [] } },
    );
    expect((await sh("touch nothing", sandbox)).out).toMatch(/Read-only file system/);
  });
});

describe("sandboxed file operations", () => {
  const refused = (rpcCode: number) => expect.objectContaining({ rpcCode });

  test("write inside, in place, and not outside, by whatever way", async () => {
    const { files } = client;
    const sandbox = workspaceWrite();
    await link(at("ws/file"), at("ws/hard"));
    const before = (await stat(at("ws/file"))).ino;
    await files.write(at("ws/file"), "hello", { sandbox });
    expect((await stat(at("ws/hard"))).ino).toBe(before);
    await files.write(at("alias/by-alias"), "x", { sandbox });
    expect(await readFile(at("ws/by-alias"), "utf8")).toBe("x");
    await expect(files.write(at("out/new"), "x", { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.write(at("ws/escape/new"), "x", { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.write(at("ws/escape-file"), "x", { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.write(at("ws/../out/new"), "x", { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.write(at("ws/.git/config"), "x", { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.makeDirectory(at("ws/.aws/x"), { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.makeDirectory(at("ws/escape/d"), { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.remove(at("ws/escape/secret"), { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.copy(at("ws/file"), at("out/copy"), { sandbox })).rejects.toEqual(refused(-32603));
    await expect(files.writeStream(at("out/new"), [Buffer.from("x")], { sandbox })).rejects.toEqual(
      refused(-32603),
    );
    await files.writeStream(at("ws/streamed"), [Buffer.from("x")], { sandbox });
    expect(await readFile(at("ws/streamed"), "utf8")).toBe("x");
    expect(await readFile(at("out/secret"), "utf8")).toBe("secret");
  });

  test("show only the processes of the sandbox", async () => {
    const { files } = client;
    const sandbox = workspaceWrite();
    const outside = `/proc/${process.pid}/environ`;
    await symlink(outside, at("ws/environ"));
    for (const path of [outside, at("ws/environ")]) {
      await expect(files.read(path, { sandbox })).rejects.toEqual(refused(-32004));
      await expect(Array.fromAsync(files.stream(path, { sandbox }))).rejects.toEqual(refused(-32004));
    }
    await expect(files.list(`/proc/${process.pid}`, { sandbox })).rejects.toEqual(refused(-32004));
    expect(await files.read("/proc/self/environ", { sandbox })).not.toEqual(await readFile(outside));
  });

  test("reach files with any name", async () => {
    const name = "a\u2028b\u2029c";
    await writeFile(at(`ws/${name}`), "x");
    // Not encoded in the URI, as it is by `client.files`.
    const params = { path: `file://${at("ws")}/${name}`, dataBase64: "eQ==", sandbox: workspaceWrite() };
    await client.request("fs/writeFile", params);
    expect(await readFile(at(`ws/${name}`), "utf8")).toBe("y");
  });

  test("read only what may be read", async () => {
    const { files } = client;
    const sandbox = hidden();
    expect(String(await files.read(at("ws/file"), { sandbox }))).toBe("hello");
    await expect(files.read(at("out/secret"), { sandbox })).rejects.toEqual(refused(-32004));
    await expect(files.read(at("ws/escape-file"), { sandbox })).rejects.toEqual(refused(-32004));
    await expect(files.list(at("ws/escape"), { sandbox })).rejects.toEqual(refused(-32004));
    await expect(
      files.copy(at("ws/escape"), at("ws/taken"), { sandbox, recursive: true }),
    ).resolves.toBeUndefined();
    expect((await files.metadata(at("ws"), { sandbox })).isDirectory).toBe(true);
    await expect(files.metadata(at("out"), { sandbox })).rejects.toEqual(refused(-32004));
    const pieces: Buffer[] = [];
    for await (const piece of files.stream(at("ws/file"), { sandbox })) pieces.push(piece);
    expect(String(Buffer.concat(pieces))).toBe("hello");
    const walked = await files.walk(
      at("ws"),
      { maxDepth: 3, maxDirectories: 50, maxEntries: 500, followDirectorySymlinks: true },
      { sandbox },
    );
    expect(walked.entries.some(({ path }) => path.includes("escape/"))).toBe(false);
    expect(await files.canonicalize(at("ws/sub"), { sandbox })).toBe(uri("ws/sub"));
  });

  test("see nothing beside the helper's own program", async () => {
    const beside = process.execPath.replace(/[^/]+$/, "");
    const seen = await client.files.list(beside, { sandbox: hidden() }).catch(() => []);
    expect(seen.length).toBeLessThanOrEqual(Number(beside.startsWith("/usr")) * 10_000 + 1);
  });
});

describe("a sandbox that can't be enforced is refused", () => {
  const foreign: [string, () => SandboxContext][] = [
    [
      "a path of another system",
      () => context([{ path: { type: "path", path: "file:///C:/x" }, access: "read" }]),
    ],
    [
      "a place that is not known",
      () => context([{ path: { type: "special", value: { kind: "unknown", path: "x" } }, access: "deny" }]),
    ],
    [
      "a relative pattern without a folder",
      () => ({
        ...context([{ path: { type: "glob_pattern", pattern: "*.key" }, access: "deny" }]),
        policyContext: {},
      }),
    ],
    ["legacy landlock", () => context([special("root", "read")], { useLegacyLandlock: true })],
  ];
  test.each(foreign)("%s", async (_what, sandbox) => {
    await expect(sh("true", sandbox())).rejects.toMatchObject({ rpcCode: -32602 });
    await expect(client.files.write(at("ws/x"), "x", { sandbox: sandbox() })).rejects.toMatchObject({
      rpcCode: -32602,
    });
  });

  test("when there is no bubblewrap", async () => {
    await using server = await ExecServer.start({ bwrap: null });
    await using other = await ExecClient.connect(server.url ?? "");
    const sandbox = workspaceWrite();
    await expect(other.start({ argv: ["true"], cwd: "/", sandbox })).rejects.toMatchObject({
      rpcCode: -32602,
    });
    await expect(other.files.write(at("ws/x"), "x", { sandbox })).rejects.toMatchObject({
      rpcCode: -32602,
    });
    // What restricts nothing needs none.
    const open: SandboxContext = { permissions: { type: "disabled" }, windowsSandboxLevel: "disabled" };
    await other.files.write(at("ws/x"), "x", { sandbox: open });
  });

  test("a context that is not one", async () => {
    const bad = { permissions: { type: "everything" }, windowsSandboxLevel: "disabled" } as never;
    await expect(client.start({ argv: ["true"], cwd: "/", sandbox: bad })).rejects.toMatchObject({
      rpcCode: -32602,
    });
  });
});

test("a hostile PATH does not choose what confines", async () => {
  const trap = at("ws/bwrap");
  execFileSync("/bin/sh", ["-c", `printf '#!/bin/sh\\necho TRAPPED\\n' > ${trap}; chmod +x ${trap}`]);
  const started = await client.start({
    argv: ["/bin/echo", "fine"],
    cwd: at("ws"),
    env: { PATH: at("ws") },
    sandbox: workspaceWrite(),
  });
  expect(String((await started.collect()).stdout)).toBe("fine\n");
});
