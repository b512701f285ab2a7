import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { tempFolder } from "@codexkit/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { OwnedProcess, type OwnedProcessOptions } from "./owned-process.ts";
import { ManifestFile } from "./owner-manifest.ts";
import { newMark, OWNER_VARIABLE } from "./owner-mark.ts";
import { processTable } from "./process-table.ts";
import { readManifest } from "./read-manifest.ts";

function shell(script: string, options: Partial<OwnedProcessOptions> = {}): OwnedProcess {
  const owned = new OwnedProcess({ command: "/bin/sh", args: ["-c", script], ...options });
  onTestFinished(() => owned.stop("SIGKILL"));
  return owned;
}

const runs = (pid: number): boolean => processTable().one(pid) !== undefined;

/** The pids that a process prints, one per line. */
async function printed(owned: OwnedProcess, count = 1): Promise<number[]> {
  let text = "";
  owned.child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await expect.poll(() => text.split("\n").length).toBeGreaterThan(count);
  return text.trim().split("\n").map(Number);
}

describe("stopping an owned process", () => {
  it("closes stdin first", async () => {
    const owned = shell("cat; exit 3");
    await owned.stop();
    await expect(owned.ended).resolves.toEqual({ code: 3, signal: null });
  });

  it("continues with SIGTERM, then SIGKILL", async () => {
    const gentle = shell("trap 'exit 4' TERM; echo 1; while :; do sleep 0.01; done", {
      limits: { exitTimeoutMs: 50, terminateTimeoutMs: 20_000 },
    });
    await printed(gentle);
    await gentle.stop();
    await expect(gentle.ended).resolves.toEqual({ code: 4, signal: null });
    const deaf = shell("trap '' TERM; echo 1; while :; do sleep 0.01; done", {
      limits: { exitTimeoutMs: 50, terminateTimeoutMs: 50 },
    });
    await printed(deaf);
    await deaf.stop();
    await expect(deaf.ended).resolves.toEqual({ code: null, signal: "SIGKILL" });
  });

  it("ends descendants: of its group, of its session, and with its mark", async () => {
    // In the same group; in another group, like an MCP server; in another session, like a command.
    const owned = shell(
      "(trap '' TERM; sleep 600) & echo $!; set -m; sleep 601 & echo $!; set +m; setsid sleep 602 & echo $!; wait",
    );
    const pids = await printed(owned, 3);
    await owned.stop("SIGKILL");
    expect(pids.filter(runs)).toEqual([]);
  });

  it("ends the session of an unmarked descendant", async () => {
    const owned = shell("env -i /bin/sh -c 'set -m; sleep 600 & echo $!; wait' & wait");
    const pids = await printed(owned);
    await owned.stop("SIGKILL");
    expect(pids.filter(runs)).toEqual([]);
  });

  it("is a no-op if repeated or after the end", async () => {
    const owned = shell("exit 0");
    await owned.ended;
    await Promise.all([owned.stop(), owned.stop("SIGKILL")]);
    owned.kill("SIGKILL");
  });
});

describe("an owned process that exits by itself", () => {
  it("ends its descendants", async () => {
    const owned = shell("setsid sleep 600 & echo $!; sleep 601 & echo $!; read line; kill -9 $$");
    const pids = await printed(owned, 2);
    owned.child.stdin.end("\n");
    await expect(owned.ended).resolves.toEqual({ code: null, signal: "SIGKILL" });
    await expect.poll(() => pids.filter(runs)).toEqual([]);
  });

  it("has ended even if a surviving descendant holds its output", async () => {
    // No mark, another session, another parent: nothing identifies its owner.
    const owned = shell("env -i setsid /bin/sh -c 'echo $$; exec sleep 600' & read line; exit 0", {
      limits: { outputTimeoutMs: 50 },
    });
    const [escaped = 0] = await printed(owned);
    onTestFinished(() => void process.kill(escaped, "SIGKILL"));
    owned.child.stdin.end("\n");
    await expect(owned.ended).resolves.toEqual({ code: 0, signal: null });
    expect(runs(escaped)).toBe(true);
  });

  it("has ended only after its output has been read", async () => {
    const owned = shell("head -c 3000000 /dev/zero", { limits: { outputTimeoutMs: 20 } });
    let bytes = 0;
    owned.child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      // A reader that takes longer than the limit in total.
      const until = performance.now() + 2;
      while (performance.now() < until);
    });
    await owned.ended;
    expect(bytes).toBe(3_000_000);
  });

  it("describes its end, with the end of its stderr", async () => {
    const owned = shell(String.raw`printf '\033[31mout of luck\033[0m\n' >&2; exit 9`);
    expect(owned.describeEnd(await owned.ended)).toBe("/bin/sh exited with code 9; stderr:\nout of luck");
    const long = shell("head -c 100000 /dev/zero | tr '\\0' x >&2; echo END >&2");
    await long.ended;
    expect(long.stderrTail).toHaveLength(4_000);
    expect(long.stderrTail).toMatch(/xEND\n$/);
  });

  it("does not break an owner that is still writing to it", async () => {
    const owned = shell("exec <&-; exit 0");
    owned.child.stdin.write("x".repeat(1_000_000));
    await expect(owned.ended).resolves.toEqual({ code: 0, signal: null });
  });
});

describe("a process that can't be started", () => {
  it("ends without crashing its owner", async () => {
    const owned = new OwnedProcess({ command: "/nonexistent/codex" });
    expect(owned.describeEnd(await owned.ended)).toContain(
      "could not be started: spawn /nonexistent/codex ENOENT",
    );
    expect(owned.startError).toMatchObject({ code: "ENOENT" });
    await owned.stop();
  });

  it("throws if there are no file descriptors", async () => {
    const program = `
      import { openSync } from "node:fs";
      import { OwnedProcess } from ${JSON.stringify(join(import.meta.dirname, "owned-process.ts"))};
      try { for (;;) openSync("/dev/null"); } catch {}
      try { new OwnedProcess({ command: "/bin/true" }); } catch (error) { process.exitCode = error.code === "EMFILE" ? 7 : 8; }`;
    const owned = shell("", {
      args: [
        "-c",
        'ulimit -n 64; exec "$0" --conditions=codexkit:source --input-type=module -e "$1"',
        process.execPath,
        program,
      ],
    });
    expect(owned.describeEnd(await owned.ended)).toContain("exited with code 7");
  });

  it("leaves no manifest, even if spawn throws", async () => {
    await using folder = await tempFolder();
    const manifest = (): ManifestFile => new ManifestFile(join(folder.path, "owners"), newMark());
    expect(() => new OwnedProcess({ command: "/bin/sh", args: ["a\0b"], manifest: manifest() })).toThrow(
      "null bytes",
    );
    await new OwnedProcess({ command: "/nonexistent", manifest: manifest() }).ended;
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe("the manifest of an owned process", () => {
  it("identifies owner and child, and is removed at the end", async () => {
    await using folder = await tempFolder();
    const mark = newMark();
    const manifest = new ManifestFile(folder.path, mark);
    expect(readManifest(manifest.path)).not.toHaveProperty("child");
    const owned = shell("cat", { mark, manifest });
    expect(readManifest(manifest.path)).toMatchObject({
      mark,
      owner: { pid: process.pid, start: processTable().one(process.pid)?.start },
      child: { pid: owned.pid, start: processTable().one(owned.pid ?? 0)?.start },
    });
    await owned.stop();
    expect(existsSync(manifest.path)).toBe(false);
  });
});

describe("stderr", () => {
  it("is reported line by line, including the last line, with long lines split", async () => {
    const lines: string[] = [];
    const owned = shell(String.raw`printf 'one\r\ntwo\n\nabcdefghijkl' >&2`, {
      onStderr: (line) => lines.push(line),
      limits: { stderrLineCharacters: 5 },
    });
    await owned.ended;
    expect(lines).toEqual(["one", "two", "", "abcde", "fghij", "kl"]);
  });

  it("is still read if the listener throws, with a warning", async () => {
    const warned = once(process, "warning");
    const owned = shell("echo one >&2", {
      onStderr: () => {
        throw new Error("my log is broken");
      },
    });
    await owned.ended;
    expect(String((await warned)[0])).toContain("my log is broken");
    expect(owned.stderrTail).toBe("one\n");
  });
});

describe("the exit hook", () => {
  it("is registered only while a process is owned", async () => {
    const before = process.listenerCount("exit");
    const [one, two] = [shell("cat"), shell("cat")];
    expect(process.listenerCount("exit")).toBe(before + 1);
    await one.stop();
    expect(process.listenerCount("exit")).toBe(before + 1);
    await two.stop();
    expect(process.listenerCount("exit")).toBe(before);
  });

  it.each([
    ["process.exit", "process.exit(0)"],
    ["an uncaught error", "throw new Error('oh')"],
    ["an unhandled rejection", "void Promise.reject(new Error('oh'))"],
  ])("ends all processes when the owner ends by %s", async (_name, ending) => {
    const program = `
      import { OwnedProcess } from ${JSON.stringify(join(import.meta.dirname, "owned-process.ts"))};
      const owned = new OwnedProcess({ command: "/bin/sh", args: ["-c", "setsid sleep 600 & echo $!; sleep 601 & echo $!; echo $$; wait"] });
      let text = "";
      owned.child.stdout.on("data", (chunk) => {
        text += chunk;
        if (text.trim().split("\\n").length === 3) process.stdout.write(text, () => { ${ending} });
      });`;
    const owner = new OwnedProcess({
      command: process.execPath,
      args: ["--conditions=codexkit:source", "--input-type=module", "-e", program],
    });
    const pids = await printed(owner, 3);
    await owner.ended;
    await expect.poll(() => pids.filter(runs)).toEqual([]);
  });

  it("adds its mark to those of its ancestors", async () => {
    const owned = shell(`echo "$${OWNER_VARIABLE}"`, { mark: newMark() });
    const [line] = (await once(owned.child.stdout, "data")) as [Buffer];
    const marks = line.toString().trim().split(":");
    expect(marks.at(-1)).toMatch(/^[\da-f-]{36}$/);
  });
});
