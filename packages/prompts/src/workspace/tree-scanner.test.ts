import fc from "fast-check";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { useWorkspaceFolder } from "../../test/workspace-folder.ts";
import { StatPool } from "./stat-pool.ts";
import { type Tree, TreeScanner } from "./tree-scanner.ts";

const at = useWorkspaceFolder("scanner");

/** Makes folders old enough for their listings to be reused. */
function age(path: string): void {
  // A folder's ctime can't be set, so wait until the clock has advanced.
  const changedAt = Date.now();
  utimesSync(path, new Date(0), new Date(0));
  while (Date.now() - changedAt < 25);
}

function toObject({ entries }: Tree): Record<string, unknown> {
  return Object.fromEntries([...entries].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const path = fc.constantFrom("a", "b", "d/a", "d/b", "d/e/f", "x.log", "d/x.log", "d/e", "d");

const action = fc.oneof(
  fc.record({ kind: fc.constantFrom("write", "append", "remove", "folder", "link", "chmod"), path }),
  fc.record({ kind: fc.constantFrom("rules", "no rules"), path: fc.constantFrom("", "d") }),
  fc.record({ kind: fc.constant("rename"), path: fc.constantFrom("a", "d", "d/e") }),
  // Lets the next scan use the previous scan's listings.
  fc.record({ kind: fc.constant("wait"), path: fc.constant("") }),
);

function perform({ kind, path: relative }: { readonly kind: string; readonly path: string }): void {
  const absolute = join(at.root, relative);
  try {
    if (kind === "wait") age(at.root);
    else if (kind === "rules") writeFileSync(join(absolute, ".gitignore"), "*.log\ne/\n");
    else if (kind === "no rules") rmSync(join(absolute, ".gitignore"), { force: true });
    else if (kind === "remove") rmSync(absolute, { recursive: true, force: true });
    else if (kind === "chmod") chmodSync(absolute, 0o700);
    else if (kind === "append") appendFileSync(absolute, "more");
    else if (kind === "rename") renameSync(absolute, join(at.root, "renamed"));
    else {
      mkdirSync(dirname(absolute), { recursive: true });
      if (kind === "folder") mkdirSync(absolute);
      else if (kind === "link") symlinkSync("a", absolute);
      else writeFileSync(absolute, "text");
    }
  } catch {
    // If a file is where a folder should be, or nothing exists there, the action does nothing.
  }
}

test.for([
  ["on one thread", Number.POSITIVE_INFINITY],
  ["on several threads", 1],
] as const)(
  "a scan %s finds what a first scan finds, whatever happened since the last",
  async ([, parallelFiles]) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(action, { maxLength: 5 }), { minLength: 2, maxLength: 4 }),
        async (rounds) => {
          rmSync(at.root, { recursive: true, force: true });
          mkdirSync(at.root);
          using scanner = new TreeScanner(at.root, { parallelFiles });
          let before: Record<string, unknown> = {};
          for (const round of rounds) {
            for (const one of round) perform(one);
            const tree = await scanner.scan();
            const first = await new TreeScanner(at.root).scan();

            const found = toObject(tree);
            expect(found).toEqual(toObject(first));
            const differing = [...new Set([...Object.keys(before), ...Object.keys(found)])].filter(
              (one) => JSON.stringify(before[one]) !== JSON.stringify(found[one]),
            );
            expect([...tree.changed].toSorted()).toEqual(differing.toSorted());
            before = found;
          }
        },
      ),
      { numRuns: parallelFiles === 1 ? 15 : 60 },
    );
  },
);

test("an unchanged folder is not listed again, but its files are looked up", async () => {
  mkdirSync(join(at.root, "d"));
  writeFileSync(join(at.root, "d", "a"), "one");
  age(join(at.root, "d"));
  using scanner = new TreeScanner(at.root);
  await scanner.scan();

  writeFileSync(join(at.root, "d", "a"), "other");
  const { changed } = await scanner.scan();

  expect([...changed]).toEqual(["d/a"]);
});

test("pipes, sockets and names that are not UTF-8 are reported as unsupported", async () => {
  execFileSync("mkfifo", [join(at.root, "pipe")]);
  writeFileSync(Buffer.concat([Buffer.from(`${at.root}/latin-`), Buffer.from([0xe9])]), "text");
  using scanner = new TreeScanner(at.root);

  const { entries, unsupported } = await scanner.scan();

  expect([...entries.keys()]).toEqual([]);
  expect(unsupported.toSorted()).toEqual(["latin-\uFFFD", "pipe"]);
});

test("a tree with too many files is rejected", async () => {
  for (const name of ["a", "b", "c"]) writeFileSync(join(at.root, name), "");
  using scanner = new TreeScanner(at.root, { maxFiles: 2 });

  await expect(scanner.scan()).rejects.toMatchObject({ code: "workspace_too_large" });
});

test("changes seen by a failed scan are reported by the next one", async () => {
  for (const name of ["a", "b"]) writeFileSync(join(at.root, name), "");
  age(at.root);
  using scanner = new TreeScanner(at.root, { maxFiles: 2, parallelFiles: 1 });
  await scanner.scan();
  writeFileSync(join(at.root, "a"), "changed");
  writeFileSync(join(at.root, "c"), "");
  await expect(scanner.scan()).rejects.toMatchObject({ code: "workspace_too_large" });
  rmSync(join(at.root, "c"));

  const { changed } = await scanner.scan();

  expect([...changed]).toEqual(["a"]);
});

test("a pool whose threads end in the middle of a run still looks up every path", async () => {
  const paths = Array.from({ length: 1_000 }, (_, index) => `f${index}`);
  for (const name of paths) writeFileSync(join(at.root, name), name);
  const pool = new StatPool(at.root, 3);
  pool.setPaths([...paths, "missing"]);

  // Threads participate as soon as they have started.
  for (let run = 0; run < 100; run += 1) await pool.stat();
  const running = pool.stat();
  pool[Symbol.dispose]();
  const run = await running;

  expect(paths.every((name) => (run.statsOf(name) as { size: number }).size === name.length)).toBe(true);
  expect(run.statsOf("missing")).toBeUndefined();
  expect(run.statsOf("other")).toBe("failed");
  expect(existsSync(join(at.root, "missing"))).toBe(false);
});
