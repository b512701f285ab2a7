import type { TempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryRoot } from "../../test/temporary-root.ts";
import { openWorkspace } from "./open-workspace.ts";

let folder: TempFolder;
let root: string;

beforeEach(async () => {
  ({ folder, root } = await temporaryRoot("mount"));
});
afterEach(() => folder[Symbol.asyncDispose]());

test("a pipe, a socket and an unreadable link are skipped", async () => {
  execFileSync("mkfifo", [join(root, "pipe")]);
  symlinkSync("nowhere", join(root, "link"));
  writeFileSync(join(root, "a"), "");
  await using workspace = openWorkspace({
    mounts: [{ from: root, links: "follow" }],
    allowedRoots: [root],
  });
  expect(readdirSync(workspace.root)).toEqual(["a"]);
  expect(workspace.mounts[0]?.skipped).toEqual(["link", "pipe"]);
});

test("a mount whose own path is a link counts by where it leads", () => {
  symlinkSync("/etc", join(root, "link"));
  expect(() => openWorkspace({ mounts: [{ from: join(root, "link") }], allowedRoots: [root] })).toThrow(
    expect.objectContaining({ code: "workspace_security" }) as Error,
  );
});

test("an allowed root that is only a prefix of the name does not count", () => {
  mkdirSync(`${root}-other`);
  expect(() => openWorkspace({ mounts: [{ from: `${root}-other` }], allowedRoots: [root] })).toThrow(
    expect.objectContaining({ code: "workspace_security" }) as Error,
  );
});

test("two mounts of the same file to the same path are refused", () => {
  writeFileSync(join(root, "a"), "");
  expect(() => openWorkspace({ mounts: [{ from: root }, { from: root }], allowedRoots: [root] })).toThrow(
    /same path/,
  );
});

test("a sparse file counts with its full size", () => {
  writeFileSync(join(root, "sparse"), "");
  truncateSync(join(root, "sparse"), 1024 * 1024 * 1024);
  expect(() =>
    openWorkspace({ mounts: [{ from: root }], allowedRoots: [root], maxBytes: 1024 * 1024 }),
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
] as const)("%j is refused", ([mount, message]) => {
  expect(() => openWorkspace({ mounts: [mount as never], allowedRoots: ["/tmp"] })).toThrow(message);
});
