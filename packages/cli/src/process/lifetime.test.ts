import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { CLI, cliEnvironment } from "../../test/cli-process.ts";

test.each([[["policy", "check", "ls"]], [["completion", "bash"]], [["--help"]]])(
  "a full disk: %j fails with one line",
  (args) => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [...CLI, ...args], {
      env: cliEnvironment(),
      stdio: ["ignore", full, "pipe"],
      encoding: "utf8",
    });
    closeSync(full);

    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "error: The output can't be written (ENOSPC).\n",
    });
  },
);
