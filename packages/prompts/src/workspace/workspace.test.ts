import fc from "fast-check";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { useWorkspaceFolder } from "../../test/workspace-folder.ts";
import { describeTree } from "../../test/describe-tree.ts";

const at = useWorkspaceFolder("workspace");
const { openRoot } = at;

const names = fc.constantFrom(
  "a",
  "b",
  "c",
  "d/a",
  "d/b",
  "d/e/f",
  "ignored/x",
  "x.log",
  "d/y.log",
  "kept.log",
);

/** A change that a tool or a command may make to the files. */
const action = fc.oneof(
  fc.record({ kind: fc.constant("write" as const), path: names, text: fc.string({ maxLength: 5 }) }),
  fc.record({ kind: fc.constant("remove" as const), path: names, text: fc.constant("") }),
  fc.record({
    kind: fc.constant("link" as const),
    path: names,
    text: fc.constantFrom("a", "/etc/hosts", "nowhere"),
  }),
  fc.record({ kind: fc.constant("chmod" as const), path: names, text: fc.constantFrom("600", "755") }),
  fc.record({
    kind: fc.constant("folder" as const),
    path: fc.constantFrom("g", "d/h", "a/z"),
    text: fc.constant(""),
  }),
);

type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

function perform({ kind, path, text }: Action): void {
  const absolute = join(at.root, path);
  try {
    if (kind === "folder") {
      mkdirSync(absolute, { recursive: true });
      return;
    }
    mkdirSync(dirname(absolute), { recursive: true });
    if (kind === "write") {
      // Never through a link, because it could lead outside the folder under test.
      if (lstatSync(absolute, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(absolute);
      writeFileSync(absolute, text);
    } else if (kind === "remove") rmSync(absolute, { recursive: true, force: true });
    else if (kind === "link") {
      rmSync(absolute, { recursive: true, force: true });
      symlinkSync(text, absolute);
    } else if (lstatSync(absolute).isFile()) chmodSync(absolute, Number.parseInt(text, 8));
  } catch {
    // If a file is where a folder should be, or nothing exists there, the action does nothing.
  }
}

function isCovered(path: string): boolean {
  return !path.startsWith("ignored") && (!path.endsWith(".log") || path === "kept.log");
}

function coveredTree(): Record<string, string> {
  return Object.fromEntries(Object.entries(describeTree(at.root)).filter(([path]) => isCovered(path)));
}

function ignoredTree(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(describeTree(at.root)).filter(([path]) => !isCovered(path) && !path.endsWith("/")),
  );
}

describe("snapshots", () => {
  test("a restore exactly restores every covered path and keeps ignored files, after any sequence of changes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 8 }),
        fc.array(fc.array(action, { maxLength: 6 }), { minLength: 1, maxLength: 3 }),
        async (before, rounds) => {
          rmSync(at.root, { recursive: true, force: true });
          mkdirSync(at.root);
          writeFileSync(join(at.root, ".gitignore"), "*.log\n!kept.log\nignored/\n");
          for (const one of before) perform(one);
          await using workspace = openRoot();
          for (const round of rounds) {
            const expected = coveredTree();
            const snapshot = await workspace.snapshot();
            for (const one of round) perform(one);
            const ignored = ignoredTree();

            const { conflicts } = await workspace.restore(snapshot);

            // A folder that contains ignored files can't be replaced, and is kept if it is new.
            const blocked = new Set(conflicts);
            const actual = coveredTree();
            for (const path of Object.keys(actual)) {
              if (path.endsWith("/") && hasIgnored(path, ignored)) delete actual[path];
            }
            const wanted = Object.fromEntries(
              Object.entries(expected).filter(
                ([path]) => !blocked.has(path) && !(path.endsWith("/") && hasIgnored(path, ignored)),
              ),
            );
            expect(actual).toEqual(wanted);
            expect(ignoredTree()).toEqual(ignored);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("unchanged files are not read again", async () => {
    writeFileSync(join(at.root, "a"), "one");
    // Old enough for its times to be trusted.
    utimesSync(join(at.root, "a"), new Date(0), new Date(0));
    await using workspace = openRoot();
    await workspace.snapshot();
    const { atimeMs } = statSync(join(at.root, "a"));

    await workspace.snapshot();

    expect(statSync(join(at.root, "a")).atimeMs).toBe(atimeMs);
  });

  test("files that git tracks are covered even if they are ignored", async () => {
    const git = (...words: string[]): void => {
      execFileSync("git", ["-C", at.root, "-c", "user.name=n", "-c", "user.email=e@example.com", ...words]);
    };
    git("init", "-q");
    mkdirSync(join(at.root, "build"));
    writeFileSync(join(at.root, "build", "tracked.js"), "before");
    writeFileSync(join(at.root, "build", "other.js"), "before");
    git("add", "-f", "build/tracked.js");
    writeFileSync(join(at.root, ".gitignore"), "build/\n");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    writeFileSync(join(at.root, "build", "tracked.js"), "after");
    writeFileSync(join(at.root, "build", "other.js"), "after");

    await workspace.restore(snapshot);

    expect(readFileSync(join(at.root, "build", "tracked.js"), "utf8")).toBe("before");
    expect(readFileSync(join(at.root, "build", "other.js"), "utf8")).toBe("after");
  });

  test("a folder that was replaced by a link is not followed", async () => {
    const outside = join(at.parent, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "file"), "precious");
    mkdirSync(join(at.root, "d"));
    writeFileSync(join(at.root, "d", "file"), "mine");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    rmSync(join(at.root, "d"), { recursive: true });
    symlinkSync(outside, join(at.root, "d"));

    await workspace.restore(snapshot);

    expect(readFileSync(join(outside, "file"), "utf8")).toBe("precious");
    expect(readFileSync(join(at.root, "d", "file"), "utf8")).toBe("mine");
  });

  test("snapshots taken concurrently can all be restored", async () => {
    await using workspace = openRoot();
    const first = await workspace.snapshot();
    writeFileSync(join(at.root, "a"), "one");
    const during = Promise.all([workspace.snapshot(), workspace.snapshot(), workspace.fingerprint()]);
    const [second] = await during;
    writeFileSync(join(at.root, "a"), "two");

    await workspace.restore(second);
    expect(describeTree(at.root)).toEqual({ a: "644 one" });
    await workspace.restore(first);
    expect(describeTree(at.root)).toEqual({});
  });

  test("a snapshot can be restored again after further changes", async () => {
    writeFileSync(join(at.root, "a"), "one");
    await using workspace = openRoot();
    const first = await workspace.snapshot();
    writeFileSync(join(at.root, "a"), "two");
    writeFileSync(join(at.root, "b"), "two");
    const second = await workspace.snapshot();

    for (const round of [1, 2, 3]) {
      await workspace.restore(first);
      expect(describeTree(at.root), `round ${round}`).toEqual({ a: "644 one" });
      await workspace.restore(second);
      expect(describeTree(at.root), `round ${round}`).toEqual({ a: "644 two", b: "644 two" });
    }
  });

  test("a path that may not be restored is reported and left unchanged", async () => {
    writeFileSync(join(at.root, "a"), "one");
    writeFileSync(join(at.root, "b"), "one");
    await using workspace = openRoot();
    const snapshot = await workspace.snapshot();
    writeFileSync(join(at.root, "a"), "two");
    writeFileSync(join(at.root, "b"), "two");

    const report = await workspace.restore(snapshot, { mayRestore: (path) => path === "a" });

    expect(report).toEqual({ restored: ["a"], conflicts: ["b"] });
    expect(describeTree(at.root)).toMatchObject({ a: "644 one", b: "644 two" });
  });
});

function hasIgnored(folderPath: string, ignored: Record<string, string>): boolean {
  return Object.keys(ignored).some((path) => path.startsWith(folderPath));
}

describe("fingerprint", () => {
  test("changes with content, mode and names, and is equal for equal files", async () => {
    writeFileSync(join(at.root, "a"), "one");
    await using workspace = openRoot();
    const first = await workspace.fingerprint();
    expect(await workspace.fingerprint()).toBe(first);

    writeFileSync(join(at.root, "a"), "two");
    const second = await workspace.fingerprint();
    writeFileSync(join(at.root, "a"), "one");

    expect(second).not.toBe(first);
    expect(await workspace.fingerprint()).toBe(first);
  });
});

describe("paths from tools", () => {
  test.for(["../x", "/etc/hosts", "link/hosts", "d/../../x"])("%s is rejected", async (path) => {
    symlinkSync("/etc", join(at.root, "link"));
    await using workspace = openRoot();
    expect(() => workspace.readText(path)).toThrow(
      expect.objectContaining({ code: "workspace_security" }) as Error,
    );
  });
});
