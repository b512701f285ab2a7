import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { killMarked, leftoverProcesses } from "./leftover-processes.ts";

it.skipIf(process.platform !== "linux")("finds only the processes with a mark", async () => {
  const mark = crypto.randomUUID();
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], {
    env: { CODEXKIT_INTEROP_MARK: mark },
    stdio: ["pipe", "ignore", "ignore"],
  });
  await once(child, "spawn");
  expect(await leftoverProcesses([crypto.randomUUID(), mark])).toEqual([
    expect.stringContaining("process.stdin.resume()"),
  ]);
  child.stdin.end();
  await once(child, "exit");
  expect(await leftoverProcesses([mark])).toEqual([]);
});

it.skipIf(process.platform !== "linux")("kills marked processes that left their process group", async () => {
  const mark = crypto.randomUUID();
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 60_000)"], {
    env: { CODEXKIT_INTEROP_MARK: mark },
    stdio: "ignore",
    detached: true,
  });
  await once(child, "spawn");
  const exited = once(child, "exit");
  await killMarked([mark]);
  expect(await exited).toEqual([null, "SIGKILL"]);
  expect(await leftoverProcesses([mark])).toEqual([]);
});
