import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import noLitter from "./no-litter.ts";

describe("the check for litter", () => {
  beforeEach(() => {
    // Stubbed, so that the variables set by the check are restored.
    for (const name of ["TMPDIR", "TEMP", "TMP", "CODEXKIT_TEST_RUN"]) vi.stubEnv(name, process.env[name]);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("passes a run that leaves nothing", async () => {
    const finish = await noLitter();
    await expect(finish()).resolves.toBeUndefined();
  });

  it("names a file that a run left behind", async () => {
    const finish = await noLitter({ graceMs: 0 });
    await writeFile(join(tmpdir(), "forgotten.txt"), "");
    await expect(finish()).rejects.toThrow(/forgotten\.txt/);
  });

  it.runIf(process.platform === "linux")("names a process that a run left behind, and ends it", async () => {
    const finish = await noLitter({ graceMs: 0 });
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    const ended = new Promise((resolve) => {
      child.once("exit", (_code, signal) => resolve(signal));
    });
    await expect(finish()).rejects.toThrow(/process \d+: sleep 600/);
    await expect(ended).resolves.toBe("SIGKILL");
  });
});
