import fc from "fast-check";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { useWorkspaceFolder } from "../../test/workspace-folder.ts";
import { describeTree } from "../../test/describe-tree.ts";
import type { Mount } from "./mount.ts";
import { openWorkspace } from "./open-workspace.ts";

const folder = useWorkspaceFolder("mount");

function makeHost(): string {
  const host = join(folder.parent, "host");
  mkdirSync(join(host, "repo", "src"), { recursive: true });
  mkdirSync(join(host, "secret"));
  writeFileSync(join(host, "secret", "key"), "SECRET");
  writeFileSync(join(host, "repo", "src", "a.ts"), "a");
  return host;
}

test("files are copied by globs into a temporary folder that is removed at the end", async () => {
  const host = makeHost();
  writeFileSync(join(host, "repo", "b.md"), "b");
  let temporary: string;
  {
    await using workspace = openWorkspace({
      mounts: [{ from: join(host, "repo"), to: "code", include: ["**/*.ts"] }],
      allowedRoots: [host],
    });
    temporary = workspace.root;
    expect(describeTree(workspace.root)).toEqual({
      "code/": "",
      "code/src/": "",
      "code/src/a.ts": "644 a",
    });
    expect(workspace.preview()).toContain("- code: 1 files, 1 bytes");
  }
  expect(existsSync(dirname(temporary))).toBe(false);
});

test.for([
  ["a root that is not allowed", { from: "secret" }, ["repo"]],
  ["no allowed roots at all", { from: "repo" }, []],
  ["a target outside the workspace", { from: "repo", to: "../out" }, ["repo"]],
] as const)("%s is rejected", ([, mount, allowed]) => {
  const host = makeHost();
  expect(() =>
    openWorkspace({
      mounts: [{ ...mount, from: join(host, mount.from) }],
      allowedRoots: allowed.map((name) => join(host, name)),
    }),
  ).toThrow(expect.objectContaining({ code: "workspace_security" }) as Error);
});

test("a mount above its limit is rejected, and its temporary folder is removed", () => {
  const host = makeHost();
  const before = readdirSync(join(folder.parent));
  expect(() =>
    openWorkspace({ mounts: [{ from: join(host, "repo"), maxBytes: 0 }], allowedRoots: [host] }),
  ).toThrow(expect.objectContaining({ code: "workspace_too_large" }) as Error);
  expect(readdirSync(join(folder.parent))).toEqual(before);
});

test("nothing outside the allowed root is copied, regardless of links", async () => {
  const host = makeHost();
  const link = fc.record({
    at: fc.constantFrom("l", "src/l", "src/a.ts", "src", "deep/er/l"),
    to: fc.constantFrom(
      "../secret",
      "../secret/key",
      "../../secret/key",
      join(host, "secret"),
      join(host, "secret", "key"),
      ".",
      "..",
      "src",
      "l",
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(link, { maxLength: 6 }),
      fc.constantFrom("skip" as const, "follow" as const),
      async (links, rule) => {
        const repo = join(host, "repo");
        rmSync(repo, { recursive: true, force: true });
        mkdirSync(join(repo, "src"), { recursive: true });
        writeFileSync(join(repo, "src", "a.ts"), "a");
        for (const { at, to } of links) {
          try {
            mkdirSync(dirname(join(repo, at)), { recursive: true });
            rmSync(join(repo, at), { recursive: true, force: true });
            symlinkSync(to, join(repo, at));
          } catch {
            // Below a link that was created earlier.
          }
        }
        await using workspace = openWorkspace({
          mounts: [{ from: repo, links: rule }],
          allowedRoots: [repo],
        });
        expect(JSON.stringify(describeTree(workspace.root))).not.toContain("SECRET");
      },
    ),
    { numRuns: 200 },
  );
  expect(readFileSync(join(host, "secret", "key"), "utf8")).toBe("SECRET");
});

test("a pipe, a socket and an unreadable link are skipped", async () => {
  execFileSync("mkfifo", [join(folder.root, "pipe")]);
  symlinkSync("nowhere", join(folder.root, "link"));
  writeFileSync(join(folder.root, "a"), "");
  await using workspace = openWorkspace({
    mounts: [{ from: folder.root, links: "follow" }],
    allowedRoots: [folder.root],
  });
  expect(readdirSync(workspace.root)).toEqual(["a"]);
  expect(workspace.mounts[0]?.skipped).toEqual(["link", "pipe"]);
});

test("a mount whose path is a link is checked by its target", () => {
  symlinkSync("/etc", join(folder.root, "link"));
  expect(() =>
    openWorkspace({ mounts: [{ from: join(folder.root, "link") }], allowedRoots: [folder.root] }),
  ).toThrow(expect.objectContaining({ code: "workspace_security" }) as Error);
});

test("an allowed root that is only a prefix of the name does not match", () => {
  mkdirSync(`${folder.root}-other`);
  expect(() =>
    openWorkspace({ mounts: [{ from: `${folder.root}-other` }], allowedRoots: [folder.root] }),
  ).toThrow(expect.objectContaining({ code: "workspace_security" }) as Error);
});

test("two mounts of the same file to the same path are rejected", () => {
  writeFileSync(join(folder.root, "a"), "");
  expect(() =>
    openWorkspace({ mounts: [{ from: folder.root }, { from: folder.root }], allowedRoots: [folder.root] }),
  ).toThrow(/same path/);
});

test("a sparse file counts at its full size", () => {
  writeFileSync(join(folder.root, "sparse"), "");
  truncateSync(join(folder.root, "sparse"), 1024 * 1024 * 1024);
  expect(() =>
    openWorkspace({ mounts: [{ from: folder.root }], allowedRoots: [folder.root], maxBytes: 1024 * 1024 }),
  ).toThrow(expect.objectContaining({ code: "workspace_too_large" }) as Error);
});

test.for([
  [{ from: "relative" }, /absolute/],
  [{ from: 5 }, /absolute path, got 5/],
  [{ from: "/tmp", exlude: ["x"] }, /"exlude". Did you mean "exclude"\?/],
  [{ from: "/tmp", include: "*.ts" }, /include must be an array of globs/],
  [{ from: "/tmp", links: "copy" }, /links must be "skip" or "follow", got "copy"/],
  [{ from: "/tmp", maxBytes: "1" }, /maxBytes must be a number of bytes, got "1"/],
  [{ from: "/tmp", to: "/etc" }, /not inside the workspace/],
  [{ from: "/tmp", to: "a/../../b" }, /not inside the workspace/],
] as const)("%j is rejected", ([mount, message]) => {
  expect(() => openWorkspace({ mounts: [mount as never], allowedRoots: ["/tmp"] })).toThrow(message);
});

test("excluded folders leave nothing behind; empty ones are copied", async () => {
  for (const path of ["src", "node_modules/x", "empty"])
    mkdirSync(join(folder.root, path), { recursive: true });
  for (const path of ["src/a.ts", "node_modules/x/index.js"]) writeFileSync(join(folder.root, path), "");
  await using workspace = openWorkspace({
    mounts: [{ from: folder.root, exclude: ["**/node_modules/**"] }],
    allowedRoots: [folder.root],
  });
  expect(readdirSync(workspace.root)).toEqual(["empty", "src"]);
});

test("a pipe is rejected, and so is a folder at the path of a copied file", () => {
  execFileSync("mkfifo", [join(folder.root, "pipe")]);
  writeFileSync(join(folder.root, "a"), "");
  mkdirSync(join(folder.root, "d"));
  writeFileSync(join(folder.root, "d", "b"), "");
  const open = (...mounts: readonly Mount[]) => openWorkspace({ mounts, allowedRoots: [folder.root] });
  expect(() => open({ from: join(folder.root, "pipe") })).toThrow(/neither a file nor a folder/);
  expect(() => open({ from: join(folder.root, "a") }, { from: join(folder.root, "d"), to: "a" })).toThrow(
    expect.objectContaining({ code: "invalid_option" }) as Error,
  );
});
