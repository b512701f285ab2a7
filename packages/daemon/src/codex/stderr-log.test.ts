import { tempFolder } from "@codexkit/testing";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StderrLog } from "./stderr-log.ts";

test("keeps the last lines per app-server in files of limited size, for a later start", async () => {
  await using folder = await tempFolder("stderr");
  const log = new StderrLog(folder.path);
  for (let number = 0; number < 4000; number += 1) {
    log.add("shared", `line ${number} ${"x".repeat(200)}`);
    if (number % 50 === 0) await log.close();
  }
  log.add("../session", "other");
  await log.close();
  const later = new StderrLog(folder.path);
  const text = await later.read("shared", 10_000);
  expect(text.length).toBeLessThanOrEqual(10_000);
  expect(text.trimEnd().split("\n").at(-1)).toContain("line 3999");
  expect(await later.read("../session", 10_000)).toContain("other");
  expect((await later.read("shared", 10_000_000)).length).toBeGreaterThan(256 * 1024);
  for (const name of await readdir(folder.path)) {
    expect((await stat(join(folder.path, name))).size).toBeLessThan(2 * 256 * 1024);
  }
  await later.removeExcept(async () => false);
  expect((await readdir(folder.path)).toSorted()).toEqual(["shared.log", "shared.log.1"]);
});

test("leaves lines out instead of keeping them all in memory", async () => {
  await using folder = await tempFolder("stderr");
  const log = new StderrLog(folder.path);
  for (let number = 0; number < 1000; number += 1) log.add("shared", "x".repeat(1000));
  const text = await log.read("shared", 1_000_000);
  expect(text).toMatch(/… \d+ lines were left out\n$/);
  log.add("shared", "after");
  expect(await log.read("shared", 100)).toContain("after");
});

test("starts with a complete line, so that a truncated secret is not missed", async () => {
  await using folder = await tempFolder("stderr");
  const log = new StderrLog(folder.path);
  log.add("shared", "a line with a secret-key");
  log.add("shared", "last");
  const whole = await log.read("shared", 1000);
  const [first = "", last = ""] = whole.split(/(?<=\n)/);
  expect(await log.read("shared", whole.length)).toBe(whole);
  expect(await log.read("shared", last.length + "key\n".length)).toBe(last);
  expect(await log.read("shared", last.length)).toBe(last);
  // A single line that is longer than the limit is left out.
  expect(await log.read("shared", last.length - 1)).toBe("");
  expect(first).toContain("secret-key");
});
