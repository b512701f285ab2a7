import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { leftoverProcesses } from "./leftover-processes.ts";

it.skipIf(process.platform !== "linux")("names the processes that have a mark, and no others", async () => {
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
