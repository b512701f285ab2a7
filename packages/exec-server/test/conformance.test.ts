// One suite for our server and for Codex's own: what a client sees of processes and sessions must be the same.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connected, SERVER_KINDS } from "./connected-client.ts";

const shell = (script: string) => ["/bin/sh", "-c", script] as [string, ...string[]];

describe.each(SERVER_KINDS)("a client of %s", (kind) => {
  test("shakes hands and learns of the machine", async () => {
    await using it = await connected(kind);
    expect(it.client.sessionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(it.client.environment?.shell.path).toMatch(/^\//);
    await expect(it.client.request("environment/status", undefined)).resolves.toEqual({ status: "ready" });
    const info = await it.client.request("environment/info", undefined);
    expect(info.cwd).toMatch(/^file:\/\//);
  });

  test("runs a command and gets its output by stream and its exit code", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({ argv: shell("echo out; echo err >&2; exit 3"), cwd: it.folder });
    const { exitCode, stdout, stderr, sandboxDenied } = await process.collect();
    expect([exitCode, String(stdout), String(stderr), sandboxDenied]).toEqual([3, "out\n", "err\n", false]);
    const read = await it.client.request("process/read", { processId: process.id });
    expect(read).toMatchObject({ exited: true, exitCode: 3, closed: true, failure: null });
    expect(read.chunks.length).toBe(2);
  });

  test("names a process by any text", async () => {
    await using it = await connected(kind);
    const large = shell("head -c 200000 /dev/zero | tr '\\0' x; echo end");
    const process = await it.client.start({ processId: "größe-✓-🚀", argv: large, cwd: it.folder });
    const { stdout } = await process.collect();
    expect(stdout.length).toBe(200_004);
  });

  test("passes any text to a child", async () => {
    await using it = await connected(kind);
    const text = "a\u2028b\u2029c\r\n\u0085\u{1f680}";
    const process = await it.client.start({
      argv: ["/usr/bin/printf", `%s%s`, text, text],
      cwd: it.folder,
      env: { TEXT: text },
    });
    expect(String((await process.collect()).stdout)).toBe(text + text);
  });

  test("gives a child a pipe that it can open by name", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({
      argv: shell("echo a > /dev/stdout; echo b > /dev/stderr"),
      cwd: it.folder,
    });
    const { stdout, stderr } = await process.collect();
    expect([String(stdout), String(stderr)]).toEqual(["a\n", "b\n"]);
  });

  test("gives a child exactly the environment of the request", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({ argv: ["/usr/bin/env"], cwd: "/", env: { A: "1", B: "ü" } });
    const { stdout } = await process.collect();
    expect(String(stdout).trim().split("\n").toSorted()).toEqual(["A=1", "B=ü"]);
  });

  test("computes an environment by policy, with the request's on top", async () => {
    await using it = await connected(kind);
    const envPolicy = {
      inherit: "core" as const,
      ignoreDefaultExcludes: false,
      exclude: ["HO*"],
      set: { SET: "1", MY_TOKEN: "kept" },
      includeOnly: [],
    };
    const process = await it.client.start({
      argv: ["/usr/bin/env"],
      cwd: "/",
      env: { OVER: "2" },
      envPolicy,
    });
    const names = String((await process.collect()).stdout)
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(names).toEqual(expect.arrayContaining(["PATH", "SET", "MY_TOKEN", "OVER"]));
    expect(names).not.toContain("HOME");
  });

  test("starts a login shell from a snapshot: the profile runs once, without its noise", async () => {
    await using it = await connected(kind);
    const profile = `echo noise; echo ran >> "$HOME/runs"; export A=$'1\\n2'; f() { echo "f $1"; }
shopt -s expand_aliases; alias hi='echo hello'; set -o pipefail`;
    await writeFile(join(it.folder, ".bash_profile"), profile);
    const start = (name: string) =>
      it.client.start({
        argv: ["/bin/bash", "-lc", 'echo "$A"; f x; hi\nfalse | true'],
        cwd: it.folder,
        env: { HOME: it.folder, PATH: "/usr/bin:/bin" },
        shellSnapshot: { scopeId: "scope", shell: { name, path: "/bin/bash" } },
      });
    for (let time = 0; time < 2; time += 1) {
      const { stdout, exitCode } = await (await start("bash")).collect();
      expect([String(stdout), exitCode]).toEqual(["1\n2\nf x\nhello\n", 1]);
    }
    expect(await readFile(join(it.folder, "runs"), "utf8")).toBe("ran\n");
    await expect(start("fish")).rejects.toMatchObject({ rpcCode: -32602 });
  });

  test("writes to a child's stdin, once for each write id", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({
      argv: shell("read a; read b; echo $a-$b"),
      cwd: "/",
      pipeStdin: true,
    });
    const chunk = Buffer.from("one\n").toString("base64");
    for (let time = 0; time < 3; time += 1) {
      await it.client.request("process/write", { processId: process.id, chunk, writeId: "x" });
    }
    await process.stdin.write("two\n");
    expect(String((await process.collect()).stdout)).toBe("one-two\n");
  });

  test("says what became of a write that can't be made", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({ argv: shell("read x"), cwd: "/" });
    const write = { chunk: "eA==", writeId: "1" };
    await expect(it.client.request("process/write", { ...write, processId: "none" })).resolves.toEqual({
      status: "unknownProcess",
    });
    await expect(process.stdin.write("x")).rejects.toMatchObject({ code: "stdin_closed" });
    for (const bad of [{ writeId: "" }, { chunk: "!" }, { chunk: "QR==" }, { chunk: "e-A=" }]) {
      const params = { ...write, processId: process.id, ...bad };
      await expect(it.client.request("process/write", params)).rejects.toMatchObject({ rpcCode: -32602 });
    }
    await process.wait();
  });

  test("runs a PTY of 80 by 24 that echoes what is typed", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({
      argv: shell("stty size; read x; echo got $x; exit 5"),
      cwd: "/",
      tty: true,
    });
    await process.stdin.write("hello\n");
    const { stdout, exitCode } = await process.collect();
    expect(String(stdout)).toContain("24 80\r\n");
    expect(String(stdout)).toContain("got hello\r\n");
    expect(exitCode).toBe(5);
  });

  test("interrupts and kills, and says whether there was anything to kill", async () => {
    await using it = await connected(kind);
    const trapped = await it.client.start({
      argv: shell("trap 'echo caught; exit 7' INT; echo up; while :; do sleep 0.05; done"),
      cwd: "/",
    });
    const output = trapped[Symbol.asyncIterator]();
    await output.next();
    await trapped.interrupt();
    await expect(trapped.wait()).resolves.toMatchObject({ exitCode: 7 });
    const sleeper = await it.client.start({ argv: ["/bin/sleep", "60"], cwd: "/" });
    await expect(sleeper.kill()).resolves.toBe(true);
    await expect(sleeper.wait()).resolves.toMatchObject({ exitCode: 137 });
    await expect(sleeper.kill()).resolves.toBe(false);
    await expect(trapped.kill()).resolves.toBe(false);
  });

  test("reports a PTY whose program was killed with exit code 1", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({ argv: shell("kill -9 $$"), cwd: "/", tty: true });
    await expect(process.wait()).resolves.toMatchObject({ exitCode: 1 });
  });

  test("lets output follow the exit of the process that started the writer", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({ argv: shell("(sleep 0.3; echo late) & echo early"), cwd: "/" });
    const { stdout, exitCode } = await process.collect();
    expect([String(stdout), exitCode]).toEqual(["early\nlate\n", 0]);
  });

  test("reads behind a number, within a budget, and waits for more", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({
      argv: shell("echo one; sleep 0.2; echo two; sleep 0.2; echo three"),
      cwd: "/",
    });
    await process.wait();
    const { id: processId } = process;
    // A busy machine may join or split what the shell writes, and notice the exit, which has a number too, before the last of it.
    const { chunks } = await it.client.request("process/read", { processId });
    expect(chunks.map(({ chunk }) => String(Buffer.from(chunk, "base64"))).join("")).toBe(
      "one\ntwo\nthree\n",
    );
    const numbers = chunks.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    const [first = 0] = numbers;
    const budget = await it.client.request("process/read", { processId, maxBytes: 0 });
    expect([budget.chunks, budget.nextSeq]).toEqual([chunks.slice(0, 1), first + 1]);
    const rest = await it.client.request("process/read", { processId, afterSeq: first });
    // The end of the output has a number of its own as well.
    expect([rest.chunks, rest.nextSeq]).toEqual([chunks.slice(1), chunks.length + 3]);
    const waiting = await it.client.start({ argv: shell("sleep 0.2; echo x; sleep 60"), cwd: "/" });
    const news = await it.client.request("process/read", { processId: waiting.id, waitMs: 5_000 });
    expect(news.chunks.length).toBe(1);
    // "x" and its line break may come apart.
    const later = await it.client.request("process/read", {
      processId: waiting.id,
      afterSeq: 1,
      waitMs: 200,
    });
    const last = 1 + later.chunks.length;
    const nothing = await it.client.request("process/read", {
      processId: waiting.id,
      afterSeq: last,
      waitMs: 50,
    });
    expect(nothing).toMatchObject({
      chunks: [],
      exited: false,
      exitCode: null,
      closed: false,
      nextSeq: last + 1,
    });
    await waiting.kill();
  });

  test("keeps the newest MiB of output for replay", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({ argv: shell("head -c 5000000 /dev/zero"), cwd: "/" });
    await process.collect();
    const { chunks } = await it.client.request("process/read", { processId: process.id });
    const kept = chunks.reduce((sum, { chunk }) => sum + Buffer.from(chunk, "base64").length, 0);
    expect(kept).toBeLessThanOrEqual(1024 * 1024);
    expect(kept).toBeGreaterThan(900_000);
  });

  test("refuses what can't be started, and frees its id", async () => {
    await using it = await connected(kind);
    const start = (params: object) =>
      it.client.request("process/start", {
        processId: "p",
        argv: ["true"],
        cwd: "file:///",
        env: {},
        tty: false,
        ...params,
      });
    const code = (rpcCode: number) => expect.objectContaining({ rpcCode });
    await expect(start({ argv: [] })).rejects.toEqual(code(-32602));
    await expect(start({ argv: [""] })).rejects.toEqual(code(-32603));
    await expect(start({ argv: ["/no/such"] })).rejects.toEqual(code(-32603));
    await expect(start({ argv: ["/no/such"], tty: true })).rejects.toEqual(code(-32603));
    await expect(start({ argv: ["/tmp"] })).rejects.toEqual(code(-32603));
    await expect(start({ argv: ["a\0b"] })).rejects.toEqual(code(-32603));
    await expect(start({ cwd: "file:///no/such" })).rejects.toEqual(code(-32603));
    await expect(start({ cwd: "file:///C:/x" })).rejects.toEqual(code(-32602));
    await expect(start({ cwd: "/tmp" })).rejects.toEqual(code(-32602));
    await expect(start({ cwd: "http://x/" })).rejects.toEqual(code(-32602));
    await expect(start({ env: undefined })).rejects.toEqual(code(-32602));
    await expect(start({})).resolves.toMatchObject({ processId: "p", sandboxType: "none" });
    await expect(start({})).rejects.toEqual(code(-32600));
    await expect(it.client.request("process/read", { processId: "q" })).rejects.toEqual(code(-32600));
    await expect(it.client.request("process/terminate", { processId: "q" })).resolves.toEqual({
      running: false,
    });
    await expect(
      it.client.request("process/signal", { processId: "q", signal: "interrupt" }),
    ).resolves.toEqual({});
  });

  test("gives a program another argv[0]", async () => {
    await using it = await connected(kind);
    // Codex's own server takes the name for the program when there is a PTY.
    for (const tty of kind === "ours" ? [false, true] : [false]) {
      const process = await it.client.start({
        argv: ["/bin/bash", "-c", "echo $0 $BASH_ARGV0"],
        arg0: "other",
        cwd: "/",
        tty,
      });
      expect(String((await process.collect()).stdout).trim()).toMatch(/^other/);
    }
  });

  test("resumes its session after a cut, with no output lost", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({
      argv: shell("for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.1; done; exit 9"),
      cwd: "/",
    });
    const before = it.client.sessionId;
    const output = process.collect();
    await it.client.request("environment/status", undefined);
    it.proxy.cut();
    const { stdout, exitCode } = await output;
    expect(it.client.sessionId).toBe(before);
    expect(String(stdout)).toBe([1, 2, 3, 4, 5, 6, 7, 8].map((i) => `line ${i}\n`).join(""));
    expect(exitCode).toBe(9);
  });

  test("learns of an exit that happened while it was away", async () => {
    await using it = await connected(kind);
    const process = await it.client.start({ argv: shell("echo a; exit 4"), cwd: "/" });
    it.proxy.cut();
    const { stdout, exitCode } = await process.collect();
    expect([String(stdout), exitCode]).toEqual(["a\n", 4]);
  });
});
