// Unusual files that a snapshot, a restore or a tool encounters.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useWorkspaceFolder } from "../../test/workspace-folder.ts";

const at = useWorkspaceFolder("files");
const { openRoot, put, read } = at;

describe("names", () => {
  test.for([
    "a\nb",
    "a\tb",
    " leading and trailing ",
    "-rf",
    "quote'\"`$(x)",
    "back\\slash",
    "*?[a]{b}",
    "!important",
    "#comment",
    "…/…",
    "😀",
    "e\u0301",
    "\u00e9",
    "\u202egnp.exe",
    "__proto__",
    "constructor",
    "node_modules",
    ".codexkit-restore-x",
    "CON",
    "a".repeat(255),
    ".gitignore.bak",
    "...",
  ])("a file named %j is restored", async (name) => {
    put(name);
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    writeFileSync(join(at.root, name), "after");
    expect((await workspace.restore(snapshot)).restored).toEqual([name]);
    expect(read(name)).toBe("before");
    rmSync(join(at.root, name));
    await workspace.restore(snapshot);
    expect(read(name)).toBe("before");
  });

  test("names that differ only in case or in Unicode form are different files", async () => {
    for (const name of ["a", "A", "e\u0301", "\u00e9"]) put(name, name);
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    for (const name of ["a", "A", "e\u0301", "\u00e9"]) put(name, "after");
    await workspace.restore(snapshot);
    for (const name of ["a", "A", "e\u0301", "\u00e9"]) expect(read(name)).toBe(name);
  });
});

describe("irregular files", () => {
  test("pipes and sockets are left unchanged and reported as uncovered", async () => {
    put("a");
    execFileSync("mkfifo", [join(at.root, "pipe")]);
    const server = createServer().listen(join(at.root, "socket"));
    try {
      await using workspace = openRoot();
      const snapshot = await workspace.snapshot();
      expect(snapshot.uncovered.toSorted()).toEqual(["pipe", "socket"]);
      put("a", "after");
      await workspace.restore(snapshot);
      expect(read("a")).toBe("before");
      expect(lstatSync(join(at.root, "pipe")).isFIFO()).toBe(true);
    } finally {
      server.close();
    }
  });

  test("a file that was replaced by a pipe is restored", async () => {
    put("a");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    rmSync(join(at.root, "a"));
    execFileSync("mkfifo", [join(at.root, "a")]);
    await workspace.restore(snapshot);
    expect(lstatSync(join(at.root, "a")).isFile()).toBe(true);
    expect(read("a")).toBe("before");
  });

  test.for(["readText", "writeText"] as const)("%s of a pipe fails instead of waiting", async (method) => {
    execFileSync("mkfifo", [join(at.root, "pipe")]);
    await using workspace = openRoot();
    expect(() => workspace[method]("pipe", "text")).toThrow(
      expect.objectContaining({ code: "workspace_security" }) as Error,
    );
  });

  test("readText of a device fails instead of reading forever", async () => {
    try {
      execFileSync("mknod", [join(at.root, "zero"), "c", "1", "5"], { stdio: "ignore" });
    } catch {
      // Only an administrator can create devices, but a folder is not a regular file either.
      mkdirSync(join(at.root, "zero"));
    }
    await using workspace = openRoot();
    expect(() => workspace.readText("zero")).toThrow(/is not a regular file/);
  });

  test("a .gitignore that is a folder, a link or a pipe contributes no rules", async () => {
    mkdirSync(join(at.root, ".gitignore"));
    put("d/x");
    symlinkSync("/etc/hosts", join(at.root, "d", ".gitignore"));
    mkdirSync(join(at.root, "e"));
    execFileSync("mkfifo", [join(at.root, "e", ".gitignore")]);
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    put("d/x", "after");
    await workspace.restore(snapshot);
    expect(read("d/x")).toBe("before");
  });
});

describe("links", () => {
  test("a circular link is treated like any other link", async () => {
    symlinkSync("loop", join(at.root, "loop"));
    symlinkSync("..", join(at.root, "up"));
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    rmSync(join(at.root, "loop"));
    await workspace.restore(snapshot);
    expect(lstatSync(join(at.root, "loop")).isSymbolicLink()).toBe(true);
  });

  test("a file that was replaced by a link out of the workspace is restored, and the link's target is unchanged", async () => {
    const outside = join(at.parent, "outside");
    writeFileSync(outside, "precious");
    put("a");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    rmSync(join(at.root, "a"));
    symlinkSync(outside, join(at.root, "a"));
    await workspace.restore(snapshot);
    expect(read("a")).toBe("before");
    expect(readFileSync(outside, "utf8")).toBe("precious");
  });

  test("a folder that was replaced by a link to another folder in the workspace is restored", async () => {
    put("d/a", "in d");
    put("e/a", "in e");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    rmSync(join(at.root, "d"), { recursive: true });
    symlinkSync("e", join(at.root, "d"));
    await workspace.restore(snapshot);
    expect([read("d/a"), read("e/a")]).toEqual(["in d", "in e"]);
  });

  test("a hard link outside the workspace keeps the content that was written through it", async () => {
    const outside = join(at.parent, "outside");
    const inside = put("a");
    linkSync(inside, outside);
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    writeFileSync(outside, "after");
    expect(read("a")).toBe("after");
    await workspace.restore(snapshot);
    expect(read("a")).toBe("before");
    expect(readFileSync(outside, "utf8")).toBe("after");
  });

  test("two hard links inside the workspace are both restored", async () => {
    linkSync(put("a"), join(at.root, "b"));
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    writeFileSync(join(at.root, "b"), "after");
    await workspace.restore(snapshot);
    expect([read("a"), read("b")]).toEqual(["before", "before"]);
  });
});

describe("sizes, times and modes", () => {
  test("a sparse file is restored with its holes, without blocking the event loop", async () => {
    const size = 100 * 1024 * 1024;
    truncateSync(put("sparse", "data before the hole"), size);
    await using workspace = openRoot();
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 1);
    const snapshot = await workspace.snapshot();
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(10);
    rmSync(join(at.root, "sparse"));
    await workspace.restore(snapshot);
    const stats = statSync(join(at.root, "sparse"));
    expect(stats.size).toBe(size);
    expect(stats.blocks * 512).toBeLessThan(1024 * 1024);
    expect(readFileSync(join(at.root, "sparse")).subarray(0, 20).toString()).toBe("data before the hole");
  });

  test("an edit that keeps the size and the times is detected", async () => {
    put("a", "one");
    utimesSync(join(at.root, "a"), new Date(0), new Date(0));
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    writeFileSync(join(at.root, "a"), "two");
    utimesSync(join(at.root, "a"), new Date(0), new Date(0));
    await workspace.restore(snapshot);
    expect(read("a")).toBe("one");
  });

  test.for([0o000, 0o400, 0o755, 0o777])("a file with mode %o is restored with its mode", async (mode) => {
    put("a");
    chmodSync(join(at.root, "a"), mode);
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    chmodSync(join(at.root, "a"), 0o644);
    writeFileSync(join(at.root, "a"), "after");
    await workspace.restore(snapshot);
    expect(statSync(join(at.root, "a")).mode & 0o777).toBe(mode);
  });

  test("500 nested folders are covered", async () => {
    const deep = join(...Array.from({ length: 500 }, () => "d"), "a");
    put(deep);
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    put(deep, "after");
    await workspace.restore(snapshot);
    expect(read(deep)).toBe("before");
  });

  test("files that change during a scan don't fail the snapshot", async () => {
    for (let index = 0; index < 200; index += 1) put(`f${index}`, "x".repeat(1_000));
    await using workspace = openRoot();
    const changing = setInterval(() => {
      writeFileSync(join(at.root, "f7"), String(Math.random()));
      rmSync(join(at.root, "f8"), { force: true });
      renameSync(put("f9"), join(at.root, "moved"));
    }, 0);
    try {
      for (let round = 0; round < 5; round += 1) {
        const snapshot = await workspace.snapshot();
        expect((await workspace.restore(snapshot)).conflicts).toEqual([]);
      }
    } finally {
      clearInterval(changing);
    }
  });

  test("a workspace whose folder is removed reports it", async () => {
    const workspace = openRoot();
    rmSync(at.root, { recursive: true });
    await expect(workspace.snapshot()).rejects.toMatchObject({ code: "ENOENT" });
    await workspace[Symbol.asyncDispose]();
  });
});

describe("a replaced folder", () => {
  test.for<[string, (path: string) => void]>([
    ["a file", (path) => writeFileSync(path, "file")],
    ["a pipe", (path) => execFileSync("mkfifo", [path])],
    ["a link", (path) => symlinkSync(at.parent, path)],
  ])("is restored with its files if %s has taken its place", async ([, create]) => {
    put("d/a");
    put("d/e/b");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();

    rmSync(join(at.root, "d"), { recursive: true });
    create(join(at.root, "d"));
    expect(await workspace.restore(snapshot)).toEqual({
      restored: ["d", "d/a", "d/e", "d/e/b"],
      conflicts: [],
    });
    expect([read("d/a"), read("d/e/b")]).toEqual(["before", "before"]);
  });
});
