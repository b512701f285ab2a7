import { chmod, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { tempFolder } from "@codexkit/testing";
import { describe, expect, it, vi } from "vitest";
import {
  listManifests,
  ManifestFile,
  OWNERS_VARIABLE,
  ownersFolder,
  removeManifest,
} from "./owner-manifest.ts";
import { newMark } from "./owner-mark.ts";
import { readManifest } from "./read-manifest.ts";

describe("the folder of manifests", () => {
  it("is the user's folder in the temp folder, or that of the variable", () => {
    expect(ownersFolder()).toBe(join(tmpdir(), `codexkit-${process.getuid?.()}`, "owners"));
    vi.stubEnv(OWNERS_VARIABLE, "/somewhere/else");
    expect(ownersFolder()).toBe("/somewhere/else");
    vi.unstubAllEnvs();
  });

  it("is private, and is removed with the last manifest", async () => {
    await using temp = await tempFolder();
    vi.stubEnv("TMPDIR", temp.path);
    const folder = ownersFolder();
    const [one, two] = [new ManifestFile(folder, newMark()), new ManifestFile(folder, newMark())];
    for (const path of [folder, dirname(folder)]) expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(one.path)).mode & 0o777).toBe(0o600);
    one.remove();
    expect(listManifests(folder)).toEqual([two.path]);
    two.remove();
    two.remove();
    expect(await readdir(temp.path)).toEqual([]);
    vi.unstubAllEnvs();
  });

  it("is rejected if it is a link, a file, or writable by others", async () => {
    await using temp = await tempFolder();
    const real = join(temp.path, "real");
    await mkdir(real, { mode: 0o700 });
    const link = join(temp.path, "link");
    await symlink(real, link);
    const file = join(temp.path, "file");
    await writeFile(file, "");
    const open = join(temp.path, "open");
    await mkdir(open);
    await chmod(open, 0o777);
    for (const [path, why] of [
      [link, "symbolic link"],
      [open, "other users can write"],
    ] as const) {
      expect(() => new ManifestFile(path, newMark())).toThrow(why);
      expect(() => listManifests(path)).toThrow(why);
    }
    expect(() => listManifests(file)).toThrow("not a folder");
    expect(await readdir(real)).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)("is refused when it belongs to another user", async () => {
    await using temp = await tempFolder();
    const { chownSync } = await import("node:fs");
    const path = join(temp.path, "theirs");
    await mkdir(path, { mode: 0o700 });
    chownSync(path, 12_345, 12_345);
    expect(() => new ManifestFile(path, newMark())).toThrow("belongs to user 12345");
  });

  it("can be removed by one process while another writes", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    // Each removes the empty folder, and the other must create it again.
    for (let round = 0; round < 50; round++) {
      const first = new ManifestFile(folder, newMark());
      first.remove();
      const second = new ManifestFile(folder, newMark());
      expect(readManifest(second.path)).toMatchObject({ version: 1 });
      second.remove();
    }
    expect(await readdir(temp.path)).toEqual([]);
  });
});

describe("a manifest", () => {
  it("that is a link is not followed, and removing it keeps its target", async () => {
    await using temp = await tempFolder();
    const folder = join(temp.path, "owners");
    await mkdir(folder, { mode: 0o700 });
    const target = join(temp.path, "precious");
    await writeFile(target, "{}");
    const link = join(folder, "x.json");
    await symlink(target, link);
    expect(readManifest(link)).toBe("corrupt");
    removeManifest(link);
    expect(await readdir(temp.path)).toEqual(["precious"]);
  });
});
