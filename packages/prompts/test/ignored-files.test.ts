// Ignored files stay unchanged, even if the rules that ignore them change between a snapshot and its restore.
import { tempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SnapshotStore } from "../src/workspace/snapshot-store.ts";
import { createStateFolder } from "../src/workspace/state-folder.ts";
import { openWorkspace } from "../src/workspace/open-workspace.ts";
import type { Workspace } from "../src/workspace/workspace.ts";

let folder: Awaited<ReturnType<typeof tempFolder>>;
let root: string;

beforeEach(async () => {
  folder = await tempFolder("ignored");
  root = join(folder.path, "root");
  mkdirSync(root);
});

afterEach(() => folder[Symbol.asyncDispose]());

function openRoot(): Workspace {
  return openWorkspace({ folder: root, stateRoot: join(folder.path, "state") });
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function read(path: string): string | undefined {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
}

function git(...words: readonly string[]): void {
  const author = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...author, ...words], { cwd: root, stdio: "ignore" });
}

/** Creates a repository with files that are ignored by the root's rules, a folder's own rules and git's `info/exclude`. */
function createRepository(): void {
  git("init");
  put(".gitignore", "build/\n*.log\n");
  put("build/out", "out");
  put("a.log", "log");
  put("venv/.gitignore", "*\n");
  put("venv/lib", "lib");
  put(".git/info/exclude", "private/\n");
  put("private/key", "key");
  put("tracked.log", "tracked");
  git("add", "-f", ".gitignore", "tracked.log");
  git("commit", "-m", "x");
  put("a.txt", "before");
}

const IGNORED = { "build/out": "out", "a.log": "log", "venv/lib": "lib", "private/key": "key" };

describe("rules that change after the snapshot", () => {
  test.for<[string, () => void]>([
    ["are removed", () => rmSync(join(root, ".gitignore"))],
    ["are emptied", () => put(".gitignore", "")],
    ["are negated", () => put(".gitignore", "build/\n*.log\n!build/\n!*.log\n")],
    ["of a folder are removed", () => rmSync(join(root, "venv/.gitignore"))],
    ["in info/exclude are removed", () => rmSync(join(root, ".git/info/exclude"))],
    ["no longer apply, because git tracks the files", () => git("add", "-f", "build/out", "a.log")],
  ])("%s: ignored files are not touched", async ([, change]) => {
    createRepository();
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();

    change();
    put("a.txt", "changed");
    put("new.txt", "new");
    await workspace.restore(snapshot);

    expect(Object.fromEntries(Object.keys(IGNORED).map((path) => [path, read(path)]))).toEqual(IGNORED);
    expect([read("a.txt"), read("new.txt"), read("tracked.log")]).toEqual(["before", undefined, "tracked"]);
  });

  test("newly ignore a file: it is restored", async () => {
    createRepository();
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();

    put(".gitignore", "*\n");
    put("a.txt", "changed");
    await workspace.restore(snapshot);

    expect(read("a.txt")).toBe("before");
  });

  test("ignore only folders: a new file of that name is removed", async () => {
    put(".gitignore", "build/\n");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();

    rmSync(join(root, ".gitignore"));
    put("build", "a file");
    await workspace.restore(snapshot);

    expect(read("build")).toBeUndefined();
  });

  test("in a transaction that was interrupted: ignored files are not touched", async () => {
    createRepository();
    const stateFolder = createStateFolder(join(folder.path, "state"), root);
    {
      using store = new SnapshotStore(root, stateFolder);
      store.begin(await store.take());
    }
    // Simulates an owner that has ended.
    writeFileSync(
      join(stateFolder, "owner.json"),
      JSON.stringify({
        ...JSON.parse(readFileSync(join(stateFolder, "owner.json"), "utf8")),
        start: "earlier",
      }),
    );
    rmSync(join(root, ".gitignore"));
    rmSync(join(root, "venv/.gitignore"));
    put("a.txt", "changed");

    await using workspace = openRoot();
    expect(workspace.hasInterrupted).toBe(true);
    await workspace.restoreInterrupted();

    expect(Object.fromEntries(Object.keys(IGNORED).map((path) => [path, read(path)]))).toEqual(IGNORED);
    expect(read("a.txt")).toBe("before");
  });
});

describe("repositories whose .git is a file", () => {
  test("a worktree uses its repository's rules and tracked files", async () => {
    createRepository();
    const worktree = join(folder.path, "worktree");
    git("worktree", "add", worktree);
    root = worktree;
    put("a.log", "log");
    put("private/key", "key");
    put("a.txt", "before");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();

    for (const path of ["a.log", "private/key", "a.txt", "tracked.log"]) put(path, "changed");
    const { restored } = await workspace.restore(snapshot);

    expect(restored).toEqual(["a.txt", "tracked.log"]);
    expect([read("a.txt"), read("tracked.log"), read("a.log"), read("private/key")]).toEqual([
      "before",
      "tracked",
      "changed",
      "changed",
    ]);
  });

  test.for(["", "gitdir: ", "gitdir: /nonexistent", "gitdir: \0", "gitdir: .git", "nonsense"])(
    "a .git file with %j does not matter",
    async (text) => {
      put(".git", text);
      put("a.txt", "before");
      await using workspace = openRoot();
      const snapshot = await workspace.snapshot();
      put("a.txt", "changed");
      await workspace.restore(snapshot);
      expect([read("a.txt"), read(".git")]).toEqual(["before", text]);
    },
  );

  test("a .git folder that becomes a file does not prevent other files from being restored", async () => {
    git("init");
    put("a.txt", "before");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();

    renameSync(join(root, ".git"), join(folder.path, "git"));
    put(".git", "a file");
    put("a.txt", "changed");
    await workspace.restore(snapshot);

    expect(read("a.txt")).toBe("before");
  });
});

describe("git", () => {
  test("a tracked file behind a link that replaced its folder is not covered", async () => {
    git("init");
    put(".gitignore", "*\n");
    put("d/f", "tracked");
    git("add", "-f", "d/f");
    const outside = join(folder.path, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "f"), "outside");
    rmSync(join(root, "d"), { recursive: true });
    symlinkSync(outside, join(root, "d"));
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();

    writeFileSync(join(outside, "f"), "changed");
    expect(await workspace.restore(snapshot)).toEqual({ restored: [], conflicts: [] });
    expect(readFileSync(join(outside, "f"), "utf8")).toBe("changed");
  });

  test("an index with a path outside the workspace is not followed", async () => {
    git("init");
    put(".gitignore", "*\n");
    put("xx/outside", "tracked");
    git("add", "-f", "xx/outside");
    writeFileSync(join(folder.path, "outside"), "outside");
    // The name has the same length, so that only the checksum changes. Git does not verify an index with a null checksum.
    const index = readFileSync(join(root, ".git/index"));
    index.write("../src/outside", index.indexOf("xx/outside"));
    index.fill(0, index.length - 20);
    writeFileSync(join(root, ".git/index"), index);
    rmSync(join(root, "xx"), { recursive: true });
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();

    writeFileSync(join(folder.path, "outside"), "changed");
    await workspace.restore(snapshot);
    expect(readFileSync(join(folder.path, "outside"), "utf8")).toBe("changed");
  });

  test("variables that refer to another repository have no effect", async () => {
    git("init");
    put(".gitignore", "*.log\n");
    put("a.log", "tracked");
    git("add", "-f", "a.log");
    vi.stubEnv("GIT_DIR", join(folder.path, "other"));
    try {
      await using workspace = openRoot();
      const snapshot = await workspace.snapshot();
      put("a.log", "changed");
      await workspace.restore(snapshot);
    } finally {
      vi.unstubAllEnvs();
    }
    expect(read("a.log")).toBe("tracked");
  });

  test("a repository's settings can't run programs", async () => {
    git("init");
    const canary = join(folder.path, "canary");
    git("config", "core.fsmonitor", `touch ${canary}; false`);
    put(".gitignore", "*.log\n");
    put("a.log", "tracked");
    git("-c", "core.fsmonitor=false", "add", "-f", "a.log");
    rmSync(canary, { force: true });
    await using workspace = openRoot();
    await workspace.snapshot();
    expect(existsSync(canary)).toBe(false);
  });
});
