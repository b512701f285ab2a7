import type { v2 } from "@codexkit/protocol";
import { type AppServer, startAppServer, startFakeAppServer } from "@codexkit/testing";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peerCaller } from "../../test/peer-caller.ts";
import type { ExecProcess } from "./exec-process.ts";
import { Exec } from "./exec.ts";

let server: AppServer;
let exec: Exec;
beforeAll(async () => {
  server = await startAppServer({ model: [] });
  exec = new Exec(peerCaller(await server.connect()));
});
afterAll(() => server[Symbol.asyncDispose]());

/** Reads until the output so far matches, and returns the match. */
async function readUntil(process: ExecProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let printed = "";
  for await (const { bytes } of process) {
    printed += Buffer.from(bytes).toString();
    const found = pattern.exec(printed);
    if (found) return found;
  }
  throw new Error(`It ended without ${String(pattern)}: ${printed}`);
}

const workspaceWrite: v2.SandboxPolicy = {
  type: "workspaceWrite",
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
};

describe.each([
  ["in the sandbox", {}],
  ["outside the sandbox", { sandbox: "off" }],
] as const)("a command %s", (_where, sandbox) => {
  const options = () => ({ ...sandbox, cwd: server.workspace });

  it("returns its output and exit code", async () => {
    expect(await exec.run(["sh", "-c", "echo out; echo err >&2; exit 3"], options())).toEqual({
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
      stdoutCapReached: false,
      stderrCapReached: false,
      outputDrainTimedOut: false,
    });
  });

  it("gets its working directory, variables and input", async () => {
    const env = { CODEXKIT_A: "1", HOME: null };
    const { stdout } = await exec.run(["sh", "-c", 'pwd; echo "$CODEXKIT_A${HOME-none}"; cat'], {
      ...options(),
      env,
      input: "from stdin",
    });
    expect(stdout).toBe(`${server.workspace}\n1none\nfrom stdin`);
  });

  it("ends normally without reading its input", async () => {
    expect(await exec.run(["true"], { ...options(), input: "x".repeat(100_000) })).toMatchObject({
      exitCode: 0,
    });
  });

  it("reports that its output was cut", async () => {
    const cut = await exec.run(["sh", "-c", "printf 123456789; echo e >&2"], {
      ...options(),
      outputBytesCap: 4,
    });
    expect(cut).toMatchObject({
      stdout: "1234",
      stdoutCapReached: true,
      stderr: "e\n",
      stderrCapReached: false,
    });
  });

  it("keeps a large output complete and in order", async () => {
    const process = await exec.start(["sh", "-c", "seq 1 200000"], options());
    const pieces: Uint8Array[] = [];
    for await (const { bytes } of process) pieces.push(bytes);
    const printed = Buffer.concat(pieces).toString();
    expect(printed).toBe(Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join(""));
    expect(await process.exited).toMatchObject({ exitCode: 0 });
  });

  it("replaces invalid UTF-8 in its output", async () => {
    expect((await exec.run(["printf", String.raw`a\377b`], options())).stdout).toBe("a\uFFFDb");
  });

  it("reads stdin until it is closed", async () => {
    await using process = await exec.start(["cat"], options());
    await process.write("hello\n");
    await readUntil(process, /hello\n/);
    await process.write(Buffer.from("again\n"));
    await readUntil(process, /again\n/);
    await process.closeStdin();
    expect(await process.exited).toMatchObject({ exitCode: 0 });
    await expect(process.write("late")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(process.terminate()).resolves.toBeUndefined();
  });

  it("has a terminal of the given size", async () => {
    const size = { rows: 10, cols: 33 };
    await using process = await exec.start(["sh", "-c", "stty size; read go; stty size; read go"], {
      ...options(),
      tty: true,
      size,
    });
    await readUntil(process, /10 33/);
    await process.resize({ rows: 11, cols: 44 });
    await process.write("\n");
    await readUntil(process, /11 44/);
  });

  it("is killed by terminate, by dispose and by its signal", async () => {
    const killed = await exec.start(["sleep", "60"], options());
    await killed.terminate();
    expect((await killed.exited).exitCode).not.toBe(0);
    {
      await using disposed = await exec.start(["sleep", "60"], options());
      expect(disposed.id).toBeTypeOf("string");
    }
    const controller = new AbortController();
    const aborted = await exec.start(["sh", "-c", "echo up; sleep 60"], {
      ...options(),
      signal: controller.signal,
    });
    await readUntil(aborted, /up/);
    controller.abort();
    expect((await aborted.exited).exitCode).not.toBe(0);
  });

  it("is killed when run is aborted, and run rejects", async () => {
    const controller = new AbortController();
    const run = exec.run(["sleep", "60"], { ...options(), signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(run).rejects.toMatchObject({ code: "aborted", cause: { message: "enough" } });
    const never = exec.run(["sleep", "60"], { ...options(), signal: controller.signal });
    await expect(never).rejects.toMatchObject({ code: "aborted" });
  });

  it("is killed by the server with exit code 124 after its timeout", async () => {
    expect(await exec.run(["sleep", "60"], { ...options(), timeoutMs: 100 })).toMatchObject({
      exitCode: 124,
    });
  });

  it("is rejected if its working directory does not exist", async () => {
    const run = exec.run(["true"], { ...options(), cwd: "/no/such/folder" });
    await expect(run).rejects.toMatchObject({
      code: "request_failed",
      message: expect.stringMatching(/No such file or directory/) as string,
    });
  });
});

describe("the sandbox", () => {
  const touch = (name: string) => ["touch", join(server.workspace, name)];

  it("comes from the user's config, a policy or a profile, or is off", async () => {
    const cwd = server.workspace;
    expect((await exec.run(touch("config"), { cwd })).exitCode).not.toBe(0);
    expect((await exec.run(touch("policy"), { cwd, sandbox: workspaceWrite })).exitCode).toBe(0);
    expect((await exec.run(touch("profile"), { cwd, sandbox: { profile: ":workspace" } })).exitCode).toBe(0);
    expect((await exec.run(touch("off"), { cwd, sandbox: "off" })).exitCode).toBe(0);
    const made = ["config", "policy", "profile", "off"].filter((name) => existsSync(join(cwd, name)));
    expect(made).toEqual(["policy", "profile", "off"]);
  });
});

describe("an invalid command", () => {
  it.each([
    ["empty", [], {}, /is empty/],
    ["outside the sandbox without a cwd", ["true"], { sandbox: "off" }, /needs a cwd/],
    ["outside the sandbox with a relative cwd", ["true"], { sandbox: "off", cwd: "x" }, /must be absolute/],
    ["a size without a terminal", ["true"], { size: { rows: 1, cols: 1 } }, /needs tty/],
  ] as const)("is rejected: %s", async (_what, argv, options, message) => {
    await expect(exec.start(argv, options)).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(message) as string,
    });
  });
});

describe("a crashed server", () => {
  it.each([
    ["command/exec", {}],
    ["process/spawn", { sandbox: "off", cwd: "/" }],
  ] as const)("rejects a command started by %s", async (_method, options) => {
    await using fake = startFakeAppServer({
      on: {
        "command/exec": [],
        "server/diagnostics": [{ do: "exit", code: 1 }],
      },
    });
    const caller = peerCaller(fake.peer);
    const process = await new Exec(caller).start(["sleep", "60"], options);
    const output = Array.fromAsync(process);
    const died = caller.request("server/diagnostics", {});
    const crashed = { status: "rejected", reason: { code: "app_server_crashed" } };
    expect(await Promise.allSettled([died, process.exited, output])).toMatchObject([
      crashed,
      crashed,
      crashed,
    ]);
    await process[Symbol.asyncDispose]();
  });
});
